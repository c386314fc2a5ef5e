/* SPDX-License-Identifier: Apache-2.0 */
/* py_convert.c - Python values to tensors and back: numbers, nested lists, buffers, numpy arrays.
 *
 * numpy is reached through the buffer protocol, so the module needs no numpy headers and works with every version of
 * it; numpy itself is imported only when an array has to be made. */
#include <complex.h>

#include "core.h"
#include "tensor/half.h"
#include "tensor/mapped.h"

/* --- numpy ------------------------------------------------------------------------------------------------------- */

PyObject *sp__py_numpy(const char *name)
{
    static PyObject *module, *cache;
    if (!module) {
        module = PyImport_ImportModule("numpy");
        if (!module) return NULL;
        cache = PyDict_New();
        if (!cache) return NULL;
    }
    PyObject *o = PyDict_GetItemString(cache, name);
    if (o) return o;
    o = PyObject_GetAttrString(module, name);
    if (!o) return NULL;
    int failed = PyDict_SetItemString(cache, name, o);
    Py_DECREF(o);
    return failed ? NULL : o; /* the cache keeps it alive */
}

static PyTypeObject *array_type, *generic_type;

/* Whoever holds an array has imported numpy: look, but do not import. */
static bool find_numpy_types(void)
{
    if (array_type) return true;
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    if (!modules || !PyDict_GetItemString(modules, "numpy")) return false;
    PyObject *array = sp__py_numpy("ndarray"), *generic = sp__py_numpy("generic");
    if (!array || !generic) {
        PyErr_Clear(); /* numpy is being imported right now */
        return false;
    }
    generic_type = (PyTypeObject *)generic;
    array_type = (PyTypeObject *)array;
    return true;
}

bool sp__py_is_array(PyObject *o) { return find_numpy_types() && PyObject_TypeCheck(o, array_type); }
static bool is_numpy_scalar(PyObject *o) { return find_numpy_types() && PyObject_TypeCheck(o, generic_type); }

/* --- numbers ----------------------------------------------------------------------------------------------------- */

static sp_tensor *status_tensor(sp_status status, sp_tensor *const *t)
{
    if (status == SP_OK) return *t;
    sp__py_fail(status);
    return NULL;
}

/* A Python int; beyond 64 bits signed it must be unsigned. */
static sp_tensor *int_tensor(PyObject *o, sp_dtype dtype)
{
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (v == -1 && PyErr_Occurred()) return NULL;
    sp_tensor *t = NULL;
    if (!overflow) return status_tensor(sp_tensor_create_i64(dtype == SP_DTYPE_NONE ? SP_DTYPE_I64 : dtype, v, &t), &t);
    unsigned long long u = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_RuntimeError, "the integer %R needs more than 64 bits, which no dtype has", o);
        return NULL;
    }
    sp_tensor *wide = NULL;
    if (!status_tensor(sp_tensor_create_from(SP_DTYPE_U64, 0, NULL, &u, &wide), &wide)) return NULL;
    if (dtype == SP_DTYPE_NONE || dtype == SP_DTYPE_U64) return wide;
    sp_status status = sp_tensor_create(dtype, 0, NULL, &t);
    if (status == SP_OK) status = sp_tensor_assign(t, wide);
    sp_tensor_release(wide);
    if (status != SP_OK) sp_tensor_release(t);
    return status_tensor(status, &t);
}

static sp_tensor *complex_tensor(PyObject *o, sp_dtype dtype)
{
    double v[2] = {PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
    if (PyErr_Occurred()) return NULL;
    sp_tensor *wide = NULL, *t = NULL;
    if (!status_tensor(sp_tensor_create_from(SP_DTYPE_C128, 0, NULL, v, &wide), &wide)) return NULL;
    if (dtype == SP_DTYPE_NONE || dtype == SP_DTYPE_C128) return wide;
    sp_status status = sp_tensor_create(dtype, 0, NULL, &t);
    if (status == SP_OK) status = sp_tensor_assign(t, wide);
    sp_tensor_release(wide);
    if (status != SP_OK) sp_tensor_release(t);
    return status_tensor(status, &t);
}

sp_tensor *sp__py_weak_number(PyObject *o)
{
    sp_tensor *t = NULL;
    if (PyFloat_CheckExact(o)) {
        if (sp_tensor_create(SP_DTYPE_F32, 0, NULL, &t) != SP_OK) goto failed;
        *(float *)(void *)t->data = (float)PyFloat_AsDouble(o);
    } else if (PyBool_Check(o)) {
        if (sp_tensor_create(SP_DTYPE_BOOL, 0, NULL, &t) != SP_OK) goto failed;
        *t->data = o == Py_True;
    } else if (PyLong_Check(o)) {
        t = int_tensor(o, SP_DTYPE_NONE);
        if (!t) return NULL;
    } else if (PyComplex_Check(o)) {
        t = complex_tensor(o, SP_DTYPE_NONE);
        if (!t) return NULL;
    } else if (PyFloat_Check(o)) {
        if (sp_tensor_create_f64(SP_DTYPE_F32, PyFloat_AsDouble(o), &t) != SP_OK) goto failed;
    } else if (is_numpy_scalar(o)) {
        t = sp__py_from_buffer(o, false);
        if (!t) return NULL;
        char kind = sp_dtype_kind((sp_dtype)t->dtype);
        sp_dtype as = kind == 'f' ? SP_DTYPE_F32 : kind == 'i' || kind == 'u' ? SP_DTYPE_I64 : (sp_dtype)t->dtype;
        if (as != (sp_dtype)t->dtype) {
            sp_tensor *wide = NULL;
            sp_status status = sp_tensor_create(as, 0, NULL, &wide);
            if (status == SP_OK) status = sp_tensor_assign(wide, t);
            sp_tensor_release(t);
            if (status != SP_OK) {
                sp_tensor_release(wide);
                goto failed;
            }
            t = wide;
        }
    } else {
        return NULL;
    }
    t->flags |= SP_TENSOR_WEAK;
    return sp__py_fetched_mark(t, o, true);
failed:
    sp__py_fail(SP_NOMEM);
    return NULL;
}

/* --- buffers ----------------------------------------------------------------------------------------------------- */

typedef struct held_buffer {
    Py_buffer view;
} held_buffer;

static void buffer_release(void *context)
{
    held_buffer *held = context;
    PyGILState_STATE state = PyGILState_Ensure(); /* the last view may die on a thread of the engine */
    PyBuffer_Release(&held->view);
    PyMem_Free(held);
    PyGILState_Release(state);
}

static void held_release(void *context) { sp__section_after(buffer_release, context); }

static sp_dtype format_dtype(const char *f, Py_ssize_t size)
{
    if (!f) return size == 1 ? SP_DTYPE_U8 : SP_DTYPE_NONE;
    if (*f == '@' || *f == '=' || (*f == '<' && size)) f++; /* little endian is ours on every machine we run on */
    if (*f == '>' || *f == '!') return size == 1 ? format_dtype(f + 1, size) : SP_DTYPE_NONE;
    if (f[0] == 'Z') return f[1] == 'f' ? SP_DTYPE_C64 : f[1] == 'd' ? SP_DTYPE_C128 : SP_DTYPE_NONE;
    if (f[0] == 0 || f[1] != 0) return SP_DTYPE_NONE;
    static const sp_dtype by_size[2][4] = {{SP_DTYPE_I8, SP_DTYPE_I16, SP_DTYPE_I32, SP_DTYPE_I64},
                                           {SP_DTYPE_U8, SP_DTYPE_U16, SP_DTYPE_U32, SP_DTYPE_U64}};
    int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    switch (*f) {
    case '?': return SP_DTYPE_BOOL;
    case 'e': return SP_DTYPE_F16;
    case 'f': return SP_DTYPE_F32;
    case 'd': return SP_DTYPE_F64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return by_size[0][log];
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return by_size[1][log];
    default: return SP_DTYPE_NONE;
    }
}

/* What numpy calls the type of the elements, or else the format of the buffer, in MindSpore's words. */
static void refuse_elements(PyObject *array, const char *format)
{
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *type = dtype ? PyObject_GetAttrString(dtype, "type") : NULL;
    PyErr_Clear();
    if (type)
        PyErr_Format(
            PyExc_TypeError,
            "initializing tensor by numpy array failed, because the element type '%R' of array is not supported: an "
            "array with elements of format '%s' cannot become a Tensor",
            type, format);
    else PyErr_Format(PyExc_TypeError, "an array with elements of format '%s' cannot become a Tensor", format);
    Py_XDECREF(type);
    Py_XDECREF(dtype);
}

/* An array of a dtype that buffers cannot name: ml_dtypes' bfloat16, read as 16-bit integers. */
static sp_tensor *from_bfloat16(PyObject *o, bool share)
{
    PyObject *dtype = PyObject_GetAttrString(o, "dtype"), *name = NULL, *bits = NULL;
    sp_tensor *t = NULL;
    if (dtype) name = PyObject_GetAttrString(dtype, "name");
    if (name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0)
        bits = PyObject_CallMethod(o, "view", "s", "uint16");
    if (bits) t = sp__py_from_buffer(bits, share);
    if (t) t->dtype = SP_DTYPE_BF16;
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    Py_XDECREF(bits);
    if (!t) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "an object of type %.80s cannot become a Tensor: %R", sp__py_type_name(o), o);
    }
    return t;
}

sp_tensor *sp__py_from_buffer(PyObject *o, bool share)
{
    held_buffer *held = PyMem_Malloc(sizeof *held);
    if (!held) {
        sp__py_no_memory();
        return NULL;
    }
    if (PyObject_GetBuffer(o, &held->view, share ? PyBUF_RECORDS : PyBUF_RECORDS_RO) < 0) {
        PyMem_Free(held);
        PyErr_Clear();
        return from_bfloat16(o, share);
    }
    Py_buffer *v = &held->view;
    sp_tensor *t = NULL, *copy = NULL;
    sp_dtype dtype = format_dtype(v->format, v->itemsize);
    int64_t dims[SP_RANK_MAX], strides[SP_RANK_MAX];
    bool even = true; /* strides are whole elements */
    if (dtype == SP_DTYPE_NONE || sp_dtype_bytes(dtype) != (size_t)v->itemsize) {
        refuse_elements(o, v->format ? v->format : "bytes");
    } else if (v->ndim > SP_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "an array of %d dimensions cannot become a Tensor: at most %d are possible",
                     v->ndim, SP_RANK_MAX);
    } else {
        for (int i = 0; i < v->ndim; i++) {
            dims[i] = v->shape[i];
            strides[i] = v->strides[i] / v->itemsize;
            even = even && v->strides[i] % v->itemsize == 0;
        }
        if (!even || (uintptr_t)v->buf % (size_t)(v->itemsize > 8 ? 8 : v->itemsize)) {
            /* A field of a record or a byte-shifted view: let Python make it plain. */
            sp_status status = sp_tensor_create(dtype, v->ndim, dims, &copy);
            if (status != SP_OK) {
                sp__py_fail(status);
            } else if (PyBuffer_ToContiguous(copy->data, v, v->len, 'C') < 0) {
                sp_tensor_release(copy);
                copy = NULL;
            }
        } else {
            sp_status status =
                sp_tensor_wrap(dtype, v->ndim, dims, strides, v->buf, share ? held_release : NULL, held, &t);
            if (status == SP_OK && share) return t;
            if (status == SP_OK) status = sp_tensor_copy(t, &copy);
            sp_tensor_release(t);
            if (status != SP_OK) sp__py_fail(status);
        }
    }
    PyBuffer_Release(v);
    PyMem_Free(held);
    return copy;
}

/* --- nested lists ------------------------------------------------------------------------------------------------ */

typedef struct list_scan {
    int rank;
    int64_t dims[SP_RANK_MAX];
    int kind;     /* largest met: 0 bool, 1 int, 2 float, 3 complex */
    bool foreign; /* something else than numbers and lists is inside */
    bool wide;    /* integers beyond int64 are */
    bool ragged;
    bool leaves;
    int leaf_rank;
} list_scan;

/* More than numpy's arrays and ours have dimensions. */
enum { LEVELS_MAX = 70 };

static bool is_sequence(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }
static Py_ssize_t seq_size(PyObject *o) { return PyList_Check(o) ? PyList_Size(o) : PyTuple_Size(o); }
static PyObject *seq_item(PyObject *o, Py_ssize_t i) /* borrowed */
{
    return PyList_Check(o) ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
}

static void scan(PyObject *o, int depth, list_scan *s)
{
    if (is_sequence(o)) {
        if (depth >= SP_RANK_MAX) {
            s->ragged = true;
            return;
        }
        Py_ssize_t n = seq_size(o);
        if (depth == s->rank && (!s->leaves || s->leaf_rank > depth)) s->dims[s->rank++] = n;
        if (depth >= s->rank || s->dims[depth] != n) {
            s->ragged = true;
            return;
        }
        for (Py_ssize_t i = 0; i < n && !s->ragged && !s->foreign; i++) scan(seq_item(o, i), depth + 1, s);
        return;
    }
    int kind = PyBool_Check(o)           ? 0
               : PyLong_CheckExact(o)    ? 1
               : PyFloat_CheckExact(o)   ? 2
               : PyComplex_CheckExact(o) ? 3
                                         : -1;
    if (kind < 0) {
        s->foreign = true;
        return;
    }
    if (kind == 1) {
        int overflow;
        (void)PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow) s->foreign = s->wide = true; /* uint64, or beyond: numpy knows */
    }
    if (!s->leaves) {
        s->leaves = true;
        s->leaf_rank = depth;
    }
    if (depth != s->rank) s->ragged = true;
    if (kind > s->kind) s->kind = kind;
}

static char *fill(PyObject *o, int kind, char *dst)
{
    if (is_sequence(o)) {
        Py_ssize_t n = seq_size(o);
        for (Py_ssize_t i = 0; i < n && dst; i++) dst = fill(seq_item(o, i), kind, dst);
        return dst;
    }
    switch (kind) {
    case 0: *dst = o == Py_True; return dst + 1;
    case 1: *(int64_t *)(void *)dst = PyLong_AsLongLong(o); return dst + 8;
    case 2: *(double *)(void *)dst = PyFloat_AsDouble(o); return PyErr_Occurred() ? NULL : dst + 8;
    default:
        ((double *)(void *)dst)[0] = PyComplex_RealAsDouble(o);
        ((double *)(void *)dst)[1] = PyComplex_ImagAsDouble(o);
        return PyErr_Occurred() ? NULL : dst + 16;
    }
}

static sp_tensor *cast_take(sp_tensor *t, sp_dtype dtype)
{
    if (!t || dtype == SP_DTYPE_NONE || dtype == (sp_dtype)t->dtype) return t;
    sp_tensor *c = NULL;
    sp_status status = sp_tensor_create(dtype, t->rank, t->dims, &c);
    if (status == SP_OK) status = sp_tensor_assign(c, t);
    sp_tensor_release(t);
    if (status != SP_OK) {
        sp_tensor_release(c);
        sp__py_fail(status);
        return NULL;
    }
    return c;
}

/* Lists that hold Tensors, arrays or numpy numbers: put together by numpy. */
static PyObject *plain_copy(PyObject *o, int depth)
{
    if (sp__py_is_tensor(o)) return sp__py_asnumpy(o);
    if (!is_sequence(o)) return Py_NewRef(o);
    if (depth == LEVELS_MAX) return PyErr_Format(PyExc_TypeError, "lists inside lists, more than %d deep", LEVELS_MAX);
    Py_ssize_t n = seq_size(o);
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *item = plain_copy(seq_item(o, i), depth + 1);
        if (!item) {
            Py_CLEAR(list);
            break;
        }
        PyList_SetItem(list, i, item);
    }
    return list;
}

/* Both look at lists that plain_copy has copied, which are not nested deeper than it allows. */
static bool holds(PyObject *o, PyTypeObject *type)
{
    if (PyObject_TypeCheck(o, type)) return true;
    if (is_sequence(o))
        for (Py_ssize_t i = 0; i < seq_size(o); i++)
            if (holds(seq_item(o, i), type)) return true;
    return false;
}

static bool holds_double_tensor(PyObject *o)
{
    if (sp__py_is_tensor(o)) return ((sp_py_tensor *)o)->t && ((sp_py_tensor *)o)->t->dtype == SP_DTYPE_F64;
    for (Py_ssize_t i = 0; is_sequence(o) && i < seq_size(o); i++)
        if (holds_double_tensor(seq_item(o, i))) return true;
    return false;
}

static sp_tensor *list_through_numpy(PyObject *o, sp_dtype dtype, bool unsigned64)
{
    PyObject *make = sp__py_numpy("array");
    PyObject *list = make ? plain_copy(o, 0) : NULL;
    PyObject *array = list && unsigned64 ? PyObject_CallFunction(make, "Os", list, "uint64") : NULL;
    if (unsigned64 && !array) PyErr_Clear(); /* negative numbers, or beyond uint64: what numpy chooses */
    if (list && !array) array = PyObject_CallFunctionObjArgs(make, list, NULL);
    sp_tensor *t = NULL;
    if (array) {
        t = sp__py_from_buffer(array, false);
        /* Python floats make numpy choose float64; ours is float32 unless float64 numbers were given. */
        if (t && t->dtype == SP_DTYPE_F64 && dtype == SP_DTYPE_NONE && find_numpy_types() && !holds(o, array_type) &&
            !holds_double_tensor(o))
            dtype = SP_DTYPE_F32;
        t = cast_take(t, dtype);
    }
    Py_XDECREF(list);
    Py_XDECREF(array);
    if (!t && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
        PyObject *shown = sp__py_shown(o);
        if (shown)
            PyErr_Format(
                PyExc_TypeError,
                "For Tensor, the input_data is %S that contain unsupported element. Numbers and Tensors can stand in "
                "one Tensor",
                shown);
        Py_XDECREF(shown);
    }
    return t;
}

/* Lists of different lengths side by side: which ones. */
static sp_tensor *ragged(PyObject *o)
{
    Py_ssize_t first = -1;
    char lengths[96] = "";
    for (Py_ssize_t i = 0; i < seq_size(o); i++) {
        PyObject *item = seq_item(o, i);
        const Py_ssize_t n = is_sequence(item) ? seq_size(item) : -2;
        if (first == -1) first = n;
        else if (n != first && n >= 0 && first >= 0) {
            PyOS_snprintf(lengths, sizeof lengths, ": element 0 has %zd values, element %zd has %zd", first, i, n);
            break;
        }
    }
    PyObject *text = sp__py_shown(o), *cut = text ? PyUnicode_Substring(text, 0, 200) : NULL;
    if (cut)
        PyErr_Format(
            PyExc_TypeError,
            "For Tensor, the input_data is %U%s that contain unsupported element. The nested list must have one length per dimension%s",
            cut, PyUnicode_GetLength(text) > 200 ? "..." : "", lengths);
    Py_XDECREF(text);
    Py_XDECREF(cut);
    return NULL;
}

static sp_tensor *from_list(PyObject *o, sp_dtype dtype)
{
    list_scan s = {.rank = 0};
    scan(o, 0, &s);
    if (s.foreign && !s.ragged) return list_through_numpy(o, dtype, s.wide && s.kind < 2 && dtype == SP_DTYPE_U64);
    if (s.ragged || s.foreign) {
        return ragged(o);
    }
    static const sp_dtype as[4] = {SP_DTYPE_BOOL, SP_DTYPE_I64, SP_DTYPE_F64, SP_DTYPE_C128};
    static const sp_dtype standard[4] = {SP_DTYPE_BOOL, SP_DTYPE_I64, SP_DTYPE_F32, SP_DTYPE_C128};
    if (!s.leaves) s.kind = 2; /* an empty list is float32 */
    sp_tensor *t = NULL;
    if (!status_tensor(sp_tensor_create(as[s.kind], s.rank, s.dims, &t), &t)) return NULL;
    if (!fill(o, s.kind, t->data)) {
        sp_tensor_release(t);
        return NULL;
    }
    return cast_take(t, dtype == SP_DTYPE_NONE ? standard[s.kind] : dtype);
}

/* --- other packages' objects ------------------------------------------------------------------------------------- */

sp_tensor *sp__py_foreign(PyObject *o)
{
    if (o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o) || PyDict_Check(o) || PyCallable_Check(o)) return NULL;
    PyObject *module = PyImport_ImportModule("spore.common.foreign");
    PyObject *found = module ? PyObject_CallMethod(module, "as_tensor", "O", o) : NULL;
    sp_tensor *t = found && sp__py_is_tensor(found) ? sp_tensor_retain(sp__py_tensor(found)) : NULL;
    Py_XDECREF(found);
    Py_XDECREF(module);
    return t;
}

/* --- anything ---------------------------------------------------------------------------------------------------- */

sp_tensor *sp__py_make_tensor(PyObject *o, sp_dtype dtype)
{
    sp_tensor *t = NULL;
    if (sp__py_is_tensor(o)) {
        sp_tensor *from = sp__py_tensor(o);
        if (!from) return NULL;
        if (sp__py_is_recorded(from) && !(from->symbol && (dtype == SP_DTYPE_NONE || dtype == (sp_dtype)from->dtype))) {
            static const sp_op *cast;
            if (!cast && !(cast = sp__py_op("cast"))) return NULL;
            const struct {
                sp_dtype dtype;
            } attrs = {dtype == SP_DTYPE_NONE ? (sp_dtype)from->dtype : dtype};
            return sp__py_apply(cast, &attrs, 1, &from);
        }
        if (dtype == SP_DTYPE_NONE || dtype == (sp_dtype)from->dtype)
            return status_tensor(sp__tensor_alias(from, &t), &t);
        return cast_take(sp_tensor_retain(from), dtype);
    }
    if (PyBool_Check(o))
        return status_tensor(sp_tensor_create_i64(dtype == SP_DTYPE_NONE ? SP_DTYPE_BOOL : dtype, o == Py_True, &t),
                             &t);
    if (PyLong_Check(o)) return sp__py_fetched_mark(int_tensor(o, dtype), o, false);
    if (PyFloat_CheckExact(o))
        return sp__py_fetched_mark(
            status_tensor(sp_tensor_create_f64(dtype == SP_DTYPE_NONE ? SP_DTYPE_F32 : dtype, PyFloat_AsDouble(o), &t),
                          &t),
            o, false);
    if (PyComplex_CheckExact(o)) return complex_tensor(o, dtype);
    if (is_sequence(o)) return sp__py_fetched_mark(from_list(o, dtype), o, false);
    if (sp__py_is_array(o) || is_numpy_scalar(o))
        return sp__py_fetched_mark(cast_take(sp__py_from_buffer(o, false), dtype), o, false);
    if ((t = sp__py_foreign(o)) != NULL || PyErr_Occurred()) return t ? cast_take(t, dtype) : NULL;
    PyErr_Format(PyExc_TypeError,
                 "Tensor: input_data must be a Tensor, array, list, tuple or number, "
                 "but got an object of type '%.100s'",
                 sp__py_type_name(o));
    return NULL;
}

int sp__py_ints(PyObject *o, int64_t *v, int max, const char *what)
{
    if (is_sequence(o)) {
        Py_ssize_t n = seq_size(o);
        if (n > max) {
            PyErr_Format(PyExc_ValueError, "%s has %zd elements, at most %d are possible", what, n, max);
            return -1;
        }
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject *item = seq_item(o, i);
            PyObject *number = PyBool_Check(item) ? NULL : PyNumber_Index(item);
            if (!number) {
                /* A value of the program being compiled has its own exception, which graph mode knows what to do with. */
                if (sp__py_is_tensor(item) && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
                PyErr_Clear();
                PyErr_Format(PyExc_TypeError, "%s must hold integers, but element %zd is of type '%.100s'", what, i,
                             sp__py_type_name(item));
                return -1;
            }
            v[i] = PyLong_AsLongLong(number);
            Py_DECREF(number);
            if (v[i] == -1 && PyErr_Occurred()) return -1;
        }
        return (int)n;
    }
    if (PyLong_Check(o) && !PyBool_Check(o)) {
        v[0] = PyLong_AsLongLong(o);
        return v[0] == -1 && PyErr_Occurred() ? -1 : 1;
    }
    if (sp__py_is_tensor(o) || sp__py_is_array(o) || is_numpy_scalar(o)) {
        sp_tensor *t = sp__py_make_tensor(o, SP_DTYPE_NONE);
        if (!t) return -1;
        int n = -1;
        char kind = sp_dtype_kind((sp_dtype)t->dtype);
        if (t->rank > 1 || (kind != 'i' && kind != 'u')) {
            PyErr_Format(PyExc_TypeError, "%s must be integers in at most one dimension, but got %d dimensions of %s",
                         what, t->rank, sp_dtype_name((sp_dtype)t->dtype));
        } else if (t->count > max) {
            PyErr_Format(PyExc_ValueError, "%s has %lld elements, at most %d are possible", what, (long long)t->count,
                         max);
        } else {
            int64_t dims[1] = {t->count};
            sp_tensor *wide = cast_take(sp_tensor_retain(t), SP_DTYPE_I64), *plain = NULL;
            sp_status status = wide ? sp__tensor_need_value(wide) : SP_OK; /* without wide the exception is set */
            if (status == SP_OK && wide) status = sp_tensor_contiguous(wide, &plain);
            if (plain) {
                n = (int)dims[0];
                memcpy(v, plain->data, (size_t)n * sizeof *v);
            } else if (status != SP_OK) {
                sp__py_fail(status);
            }
            sp_tensor_release(wide);
            sp_tensor_release(plain);
        }
        sp_tensor_release(t);
        return n;
    }
    PyErr_Format(PyExc_TypeError, "%s must be an int or a tuple of ints, but got %.100s", what, sp__py_type_name(o));
    return -1;
}

/* --- tensors to Python -------------------------------------------------------------------------------------------- */

PyObject *sp__py_shape(const sp_tensor *t)
{
    PyObject *shape = PyTuple_New(t->rank);
    for (int i = 0; shape && i < t->rank; i++) {
        PyObject *n = PyLong_FromLongLong(t->dims[i]);
        if (!n) Py_CLEAR(shape);
        else PyTuple_SetItem(shape, i, n);
    }
    return shape;
}

PyObject *sp__py_item(const sp_tensor *t, const char *at)
{
    switch ((sp_dtype)t->dtype) {
#define READ(e, type, make)                                                                                            \
    case SP_DTYPE_##e: {                                                                                               \
        type v;                                                                                                        \
        memcpy(&v, at, sizeof v);                                                                                      \
        return make;                                                                                                   \
    }
        READ(BOOL, uint8_t, PyBool_FromLong(v))
        READ(U8, uint8_t, PyLong_FromLong(v))
        READ(U16, uint16_t, PyLong_FromLong(v))
        READ(U32, uint32_t, PyLong_FromUnsignedLongLong(v))
        READ(U64, uint64_t, PyLong_FromUnsignedLongLong(v))
        READ(I8, int8_t, PyLong_FromLong(v))
        READ(I16, int16_t, PyLong_FromLong(v))
        READ(I32, int32_t, PyLong_FromLong(v))
        READ(I64, int64_t, PyLong_FromLongLong(v))
        READ(F16, uint16_t, PyFloat_FromDouble(sp__f16_f32((sp_f16){v})))
        READ(BF16, uint16_t, PyFloat_FromDouble(sp__bf16_f32((sp_bf16){v})))
        READ(F32, float, PyFloat_FromDouble(v))
        READ(F64, double, PyFloat_FromDouble(v))
    case SP_DTYPE_C64: {
        float v[2];
        memcpy(v, at, sizeof v);
        return PyComplex_FromDoubles(v[0], v[1]);
    }
    case SP_DTYPE_C128: {
        double v[2];
        memcpy(v, at, sizeof v);
        return PyComplex_FromDoubles(v[0], v[1]);
    }
#undef READ
    default:
        return PyErr_Format(PyExc_TypeError, "elements of dtype %s have no Python number",
                            sp_dtype_name((sp_dtype)t->dtype));
    }
}

PyObject *sp__py_asnumpy(PyObject *self)
{
    PyObject *strings = sp__py_strings(self);
    if (strings) return strings;
    sp_tensor *t = sp__py_value(self);
    if (t && sp__storage_is_mapped(t->storage)) SP_PY_TRY(sp__storage_check(t->storage));
    PyObject *as_array = t ? sp__py_numpy("asarray") : NULL;
    if (!as_array) return NULL;
    PyObject *source;
    if (t->dtype == SP_DTYPE_BF16) { /* numpy has no bfloat16: its numbers as float32, a copy */
        source = sp__py_take_tensor(cast_take(sp_tensor_retain(t), SP_DTYPE_F32));
        if (!source) return NULL;
    } else if (
        t->node) { /* without its history: whether values leave a differentiated function is the caller's to say */
        sp_tensor *plain = NULL;
        source = sp__py_take_tensor(status_tensor(sp__tensor_alias(t, &plain), &plain));
        if (!source) return NULL;
    } else if (t == ((sp_py_tensor *)self)->here) { /* fetched from its device: the view must not fetch it again */
        source = sp__py_take_tensor(sp_tensor_retain(t));
        if (!source) return NULL;
    } else {
        source = Py_NewRef(self);
    }
    PyObject *view = PyMemoryView_FromObject(source);
    Py_DECREF(source);
    if (!view) return NULL;
    PyObject *array = PyObject_CallFunctionObjArgs(as_array, view, NULL);
    Py_DECREF(view);
    return array;
}
