/* SPDX-License-Identifier: Apache-2.0 */
/* py_indexing.c - x[index] and x[index] = value.
 *
 * An index is read into items. Integers, slices, None and ... alone are geometry: a view of the same memory, made at
 * once when there is no history to extend, through the operators `slice` and `reshape` when there is. Tensors, lists
 * and arrays select element by element: the geometric part first, then the operator `index` over the axes they address. Integers
 * beside such selectors count as selectors too, as in numpy. */
#include "core.h"
#include "spore/grad.h"

enum { ITEMS_MAX = 2 * SP_RANK_MAX + 4 };

typedef enum { ITEM_INT, ITEM_SLICE, ITEM_NONE, ITEM_ELLIPSIS, ITEM_TENSOR } item_kind;
typedef struct item {
    item_kind kind;
    int64_t number;
    PyObject *slice;   /* borrowed */
    sp_tensor *tensor; /* owned: integers or a mask */
    bool listed;       /* the integers stood in a list: like single ones, they are checked here */
    bool truth;        /* ITEM_NONE that was True: beside selectors it selects all and adds no dimension */
} item;

typedef struct parsed_index {
    int n;
    item items[ITEMS_MAX];
    bool advanced;
    bool nothing; /* False was in it: no element is meant */
} parsed_index;

static void parsed_done(parsed_index *p)
{
    for (int i = 0; i < p->n; i++) sp_tensor_release(p->items[i].tensor);
}

/* Dimensions of x may have other sizes than now: bounds of slices are kept as they were given. */
static bool keeps_bounds(const sp_tensor *x) { return x->symbol && sp__recorder && sp__recorder->graph->keeps_sources; }

/* --- reading ----------------------------------------------------------------------------------------------------- */

static int bad_index(PyObject *o)
{
    PyObject *shown = PyErr_Occurred() ? NULL : sp__py_shown(o);
    if (shown)
        PyErr_Format(PyExc_IndexError,
                     "a Tensor is indexed by integers, slices, ..., None, bools, Tensors, lists and tuples of these, "
                     "but got %S of type %s",
                     shown, sp__py_type_name(o));
    Py_XDECREF(shown);
    return -1;
}

static int add_tensor_item(parsed_index *p, PyObject *o)
{
    sp_tensor *t = sp__py_make_tensor(o, SP_DTYPE_NONE);
    if (!t) return PyErr_ExceptionMatches(PyExc_TypeError) ? (PyErr_Clear(), bad_index(o)) : -1;
    char kind = sp_dtype_kind((sp_dtype)t->dtype);
    item *it = &p->items[p->n];
    if (kind == 'i' && t->rank == 0 && !t->symbol) { /* Tensor(1) is the integer 1 */
        int64_t v = 0;
        sp_status status = sp_tensor_item_i64(t, &v);
        sp_tensor_release(t);
        if (status != SP_OK) return sp__py_fail(status), -1;
        *it = (item){.kind = ITEM_INT, .number = v};
        p->n++;
        return 0;
    }
    if (kind == 'b' && t->rank == 0) { /* like the Python bool */
        if (!sp__py_has_value(t)) {
            sp_tensor_release(t);
            return -1;
        }
        int64_t truth = 0;
        const sp_status status = sp_tensor_item_i64(t, &truth);
        if (status != SP_OK) {
            sp_tensor_release(t);
            return sp__py_fail(status), -1;
        }
        if (!truth) p->nothing = true;
        sp_tensor_release(t);
        *it = (item){.kind = ITEM_NONE, .truth = true};
        p->n++;
        return 0;
    }
    if (kind != 'i' && kind != 'b' && t->count) {
        PyErr_Format(PyExc_IndexError, "an index Tensor must be of a signed integer dtype or bool, but got %s",
                     sp_dtype_name((sp_dtype)t->dtype));
        sp_tensor_release(t);
        return -1;
    }
    *it = (item){.kind = ITEM_TENSOR, .tensor = t, .listed = t->dtype == SP_DTYPE_I64 && PyList_Check(o)};
    p->n++;
    p->advanced = true;
    return 0;
}

static int add_item(parsed_index *p, PyObject *o)
{
    if (p->n == ITEMS_MAX) {
        PyErr_Format(PyExc_IndexError, "the index has more than %d parts", ITEMS_MAX);
        return -1;
    }
    item *it = &p->items[p->n];
    if (PyBool_Check(o)) { /* True adds a dimension */
        *it = (item){.kind = ITEM_NONE, .truth = true};
        if (o == Py_False) p->nothing = true;
    } else if (PyLong_Check(o)) {
        int overflow;
        int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow) v = overflow > 0 ? INT64_MAX : INT64_MIN;
        *it = (item){.kind = ITEM_INT, .number = v};
    } else if (PySlice_Check(o)) {
        *it = (item){.kind = ITEM_SLICE, .slice = o};
    } else if (o == Py_None) {
        *it = (item){.kind = ITEM_NONE};
    } else if (o == Py_Ellipsis) {
        *it = (item){.kind = ITEM_ELLIPSIS};
    } else if (sp__py_is_tensor(o) || PyList_Check(o) || PyTuple_Check(o) || sp__py_is_array(o)) {
        return add_tensor_item(p, o);
    } else if (PyRange_Check(o)) {
        PyObject *list = PySequence_List(o);
        int status = list ? add_tensor_item(p, list) : -1;
        Py_XDECREF(list);
        return status;
    } else if (!PyFloat_Check(o) && PyIndex_Check(o)) { /* numpy's integers */
        PyObject *number = PyNumber_Index(o);
        int status = number ? add_item(p, number) : -1;
        Py_XDECREF(number);
        return status;
    } else {
        return bad_index(o);
    }
    p->n++;
    return 0;
}

/* A list that holds anything but numbers stands for a tuple. */
static bool list_is_tuple(PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        PyObject *o = PyList_GetItem(list, i);
        if (sp__py_is_tensor(o) || PyList_Check(o) || PyTuple_Check(o) || PySlice_Check(o) || o == Py_None ||
            o == Py_Ellipsis)
            return true;
    }
    return false;
}

static int read_index(PyObject *index, parsed_index *p)
{
    p->n = 0;
    p->advanced = p->nothing = false;
    if (PyList_Check(index) && PyList_Size(index) == 0) {
        PyErr_SetString(PyExc_IndexError, "an empty list is no index");
        return -1;
    }
    const bool tuple = PyTuple_Check(index), list = !tuple && PyList_Check(index) && list_is_tuple(index);
    if (!tuple && !list) return add_item(p, index);
    Py_ssize_t n = tuple ? PyTuple_Size(index) : PyList_Size(index);
    for (Py_ssize_t i = 0; i < n; i++)
        if (add_item(p, tuple ? PyTuple_GetItem(index, i) : PyList_GetItem(index, i)) < 0) return -1;
    return 0;
}

/* --- geometry ---------------------------------------------------------------------------------------------------- */

/* What the geometric part does to each dimension of x, and what comes out. */
typedef struct plan {
    int64_t start[SP_RANK_MAX], stop[SP_RANK_MAX], step[SP_RANK_MAX], length[SP_RANK_MAX]; /* of x */
    int rank; /* of the result of the geometric part */
    int64_t dims[SP_RANK_MAX];
    int64_t strides[SP_RANK_MAX];
    int64_t offset;
    /* Selectors, and the axes of that result they address. */
    int n_select;
    int axes[SP_RANK_MAX];
    sp_tensor *select[SP_RANK_MAX]; /* borrowed masks and index tensors; NULL: the integer */
    int64_t select_int[SP_RANK_MAX];
} plan;

static int check_int(int64_t *v, int64_t n)
{
    int64_t i = *v < 0 ? *v + n : *v;
    if (i < 0 || i >= n) {
        PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for a dimension of size %lld", (long long)*v,
                     (long long)n);
        return -1;
    }
    *v = i;
    return 0;
}

static int push_dim(plan *g, int64_t n, int64_t stride)
{
    if (g->rank == SP_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "the result has more than %d dimensions", SP_RANK_MAX);
        return -1;
    }
    g->dims[g->rank] = n;
    g->strides[g->rank++] = stride;
    return 0;
}

static int make_plan(const sp_tensor *x, const parsed_index *p, plan *g)
{
    int consumed = 0, ellipsis = 0;
    for (int i = 0; i < p->n; i++) {
        const item *it = &p->items[i];
        consumed += it->kind == ITEM_TENSOR ? (it->tensor->dtype == SP_DTYPE_BOOL ? it->tensor->rank : 1)
                                            : it->kind == ITEM_INT || it->kind == ITEM_SLICE;
        ellipsis += it->kind == ITEM_ELLIPSIS;
    }
    if (ellipsis > 1) return PyErr_SetString(PyExc_IndexError, "an index can have only one '...'"), -1;
    if (consumed > x->rank) {
        PyErr_Format(x->rank ? PyExc_IndexError : PyExc_ValueError,
                     "the index addresses %d dimensions, but the Tensor has %d", consumed, x->rank);
        return -1;
    }
    g->rank = g->n_select = 0;
    g->offset = 0;
    int axis = 0;
    for (int i = 0; i <= p->n; i++) {
        /* After the last item comes what an ellipsis at the end would say. */
        const item end = {.kind = ITEM_ELLIPSIS}, *it = i < p->n ? &p->items[i] : &end;
        if (i == p->n && ellipsis) break;
        int64_t n = axis < x->rank ? x->dims[axis] : 0, stride = axis < x->rank ? x->strides[axis] : 0;
        switch (it->kind) {
        case ITEM_NONE:
            if (it->truth && p->advanced && !p->nothing) break;
            if (push_dim(g, 1, 0) < 0) return -1;
            break;
        case ITEM_INT: {
            int64_t v = it->number;
            if (check_int(&v, n) < 0) return -1;
            if (p->advanced) { /* a selector like the others */
                g->start[axis] = 0, g->stop[axis] = g->length[axis] = n, g->step[axis] = 1;
                g->axes[g->n_select] = g->rank;
                g->select[g->n_select] = NULL;
                g->select_int[g->n_select++] = v;
                if (push_dim(g, n, stride) < 0) return -1;
            } else {
                g->start[axis] = v, g->stop[axis] = v + 1, g->step[axis] = 1, g->length[axis] = 1;
                g->offset += v * stride;
            }
            axis++;
            break;
        }
        case ITEM_SLICE: {
            Py_ssize_t start, stop, step;
            if (PySlice_Unpack(it->slice, &start, &stop, &step) < 0) return -1;
            Py_ssize_t length = PySlice_AdjustIndices((Py_ssize_t)n, &start, &stop, step);
            if (step > 0 && keeps_bounds(x)) PySlice_Unpack(it->slice, &start, &stop, &step);
            g->start[axis] = start, g->stop[axis] = stop, g->step[axis] = step, g->length[axis] = length;
            if (length && start >= 0) g->offset += start * stride;
            if (push_dim(g, length, stride * step) < 0) return -1;
            axis++;
            break;
        }
        case ITEM_ELLIPSIS:
            for (int k = x->rank - consumed; k > 0; k--, axis++) {
                g->start[axis] = 0, g->stop[axis] = g->length[axis] = x->dims[axis], g->step[axis] = 1;
                if (push_dim(g, x->dims[axis], x->strides[axis]) < 0) return -1;
            }
            break;
        case ITEM_TENSOR: {
            int ranks = it->tensor->dtype == SP_DTYPE_BOOL ? it->tensor->rank : 1;
            g->axes[g->n_select] = g->rank;
            g->select[g->n_select] = it->tensor;
            g->n_select++;
            for (int k = 0; k < ranks; k++, axis++) {
                int64_t size = x->dims[axis];
                for (int64_t at = 0; it->listed && at < it->tensor->count; at++) {
                    int64_t v = ((const int64_t *)(const void *)it->tensor->data)[at];
                    if (check_int(&v, size) < 0) return -1;
                }
                if (it->tensor->dtype == SP_DTYPE_BOOL && it->tensor->dims[k] != size) {
                    PyErr_Format(PyExc_ValueError,
                                 "the mask has size %lld in dimension %d, but the Tensor has %lld there",
                                 (long long)it->tensor->dims[k], k, (long long)size);
                    return -1;
                }
                g->start[axis] = 0, g->stop[axis] = g->length[axis] = size, g->step[axis] = 1;
                if (push_dim(g, size, x->strides[axis]) < 0) return -1;
            }
            break;
        }
        }
    }
    return 0;
}

/* Must go through operators: its history, or a program, is being recorded. */
static bool records(const sp_tensor *t) { return (t->node && sp_grad_recording()) || sp__py_is_recorded(t); }

/* The geometric part applied to x: a view. */
static sp_tensor *geometric(sp_tensor *x, const plan *g)
{
    sp_tensor *out = NULL;
    if (!records(x)) {
        sp_status status = sp_tensor_view(x, g->rank, g->dims, g->strides, g->offset, &out);
        if (status != SP_OK) sp__py_fail(status);
        return out;
    }
    static const sp_op *slice, *reshape;
    if ((!slice && !(slice = sp__py_op("slice"))) || (!reshape && !(reshape = sp__py_op("reshape")))) return NULL;
    bool whole = true;
    for (int i = 0; i < x->rank; i++)
        whole = whole && g->step[i] == 1 &&
                (keeps_bounds(x) ? g->start[i] == 0 && g->stop[i] == PY_SSIZE_T_MAX : g->length[i] == x->dims[i]);
    sp_tensor *part;
    if (whole) {
        part = sp_tensor_retain(x);
    } else {
        const struct {
            sp_ints start, stop, step;
        } attrs = {{x->rank, g->start}, {x->rank, g->stop}, {x->rank, g->step}};
        part = sp__py_apply(slice, &attrs, 1, &x);
        if (!part) return NULL;
    }
    if (sp__shape_equal(part->rank, part->dims, g->rank, g->dims)) {
        if (part != x) return part;
        sp_tensor_release(part);
        static const sp_op *identity; /* another handle with the same history */
        if (!identity && !(identity = sp__py_op("identity"))) return NULL;
        return sp__py_apply(identity, NULL, 1, &x);
    }
    const struct {
        sp_ints shape;
    } attrs = {{g->rank, g->dims}};
    out = sp__py_apply(reshape, &attrs, 1, &part);
    sp_tensor_release(part);
    return out;
}

/* --- selectors --------------------------------------------------------------------------------------------------- */

typedef struct selectors {
    int n;
    int64_t axes[SP_RANK_MAX];
    sp_tensor *t[SP_RANK_MAX]; /* owned int64 */
} selectors;

static void selectors_done(selectors *s)
{
    for (int i = 0; i < s->n; i++) sp_tensor_release(s->t[i]);
}

/* Positions of the true elements of a mask, one int64 vector per dimension. */
static int add_mask(selectors *s, int axis, const sp_tensor *mask)
{
    int64_t n = 0, at[SP_RANK_MAX] = {0};
    sp_tensor *plain = NULL;
    sp_tensor *here = NULL;
    sp_status status = sp__tensor_here((sp_tensor *)(uintptr_t)mask, &here);
    if (status == SP_OK) status = sp_tensor_contiguous(here, &plain);
    sp_tensor_release(here);
    if (status != SP_OK) return sp__py_fail(status), -1;
    for (int64_t i = 0; i < plain->count; i++) n += plain->data[i] != 0;
    int64_t *column[SP_RANK_MAX];
    for (int k = 0; k < mask->rank; k++) {
        sp_tensor *t;
        status = sp_tensor_create(SP_DTYPE_I64, 1, &n, &t);
        if (status != SP_OK) {
            sp_tensor_release(plain);
            return sp__py_fail(status), -1;
        }
        s->axes[s->n] = axis + k;
        s->t[s->n++] = t;
        column[k] = (int64_t *)(void *)t->data;
    }
    for (int64_t i = 0, found = 0; i < plain->count; i++) {
        if (plain->data[i]) {
            for (int k = 0; k < mask->rank; k++) column[k][found] = at[k];
            found++;
        }
        for (int k = mask->rank - 1; k >= 0 && ++at[k] == mask->dims[k]; k--) at[k] = 0;
    }
    sp_tensor_release(plain);
    return 0;
}

/* The same while a program is recorded: how many there are is known when it runs. */
static int add_recorded_mask(selectors *s, int axis, sp_tensor *mask)
{
    static const sp_op *nonzero, *slice, *reshape;
    if ((!nonzero && !(nonzero = sp__py_op("nonzero"))) || (!slice && !(slice = sp__py_op("slice"))) ||
        (!reshape && !(reshape = sp__py_op("reshape"))))
        return -1;
    sp_tensor *rows = sp__py_apply(nonzero, NULL, 1, &mask);
    bool failed = !rows;
    for (int64_t k = 0; k < mask->rank && !failed; k++) {
        const int64_t start[2] = {0, k}, stop[2] = {INT64_MAX, k + 1}, step[2] = {1, 1}, flat = -1;
        const struct {
            sp_ints start, stop, step;
        } column = {{2, start}, {2, stop}, {2, step}};
        const struct {
            sp_ints shape;
        } as = {{1, &flat}};
        sp_tensor *part = sp__py_apply(slice, &column, 1, &rows),
                  *t = part ? sp__py_apply(reshape, &as, 1, &part) : NULL;
        sp_tensor_release(part);
        failed = !t;
        if (failed) break;
        s->axes[s->n] = axis + k;
        s->t[s->n++] = t;
    }
    sp_tensor_release(rows);
    return failed ? -1 : 0;
}

static int make_selectors(const plan *g, selectors *s)
{
    s->n = 0;
    for (int i = 0; i < g->n_select; i++) {
        sp_tensor *t = g->select[i];
        if (t && t->dtype == SP_DTYPE_BOOL) {
            int added = sp__py_is_recorded(t) ? add_recorded_mask(s, (int)g->axes[i], t) : add_mask(s, g->axes[i], t);
            if (added < 0) return -1;
            continue;
        }
        sp_tensor *wide = NULL;
        if (t && sp__py_is_recorded(t)) {
            static const sp_op *cast;
            const struct {
                sp_dtype dtype;
            } attrs = {SP_DTYPE_I64};
            if ((!cast && !(cast = sp__py_op("cast"))) || !(wide = sp__py_apply(cast, &attrs, 1, &t))) return -1;
            s->axes[s->n] = g->axes[i];
            s->t[s->n++] = wide;
            continue;
        }
        sp_status status = t ? sp_tensor_create(SP_DTYPE_I64, t->rank, t->dims, &wide)
                             : sp_tensor_create_i64(SP_DTYPE_I64, g->select_int[i], &wide);
        if (status == SP_OK && t) status = sp_tensor_assign(wide, t);
        if (status != SP_OK) {
            sp_tensor_release(wide);
            return sp__py_fail(status), -1;
        }
        s->axes[s->n] = g->axes[i];
        s->t[s->n++] = wide;
    }
    return 0;
}

/* --- get --------------------------------------------------------------------------------------------------------- */

static sp_tensor *get_selected(sp_tensor *base, const plan *g)
{
    static const sp_op *index;
    if (!index && !(index = sp__py_op("index"))) return NULL;
    selectors s;
    sp_tensor *out = NULL, *in[SP_RANK_MAX + 1] = {base};
    if (make_selectors(g, &s) == 0) {
        for (int i = 0; i < s.n; i++) in[i + 1] = s.t[i];
        const struct {
            sp_ints axes;
        } attrs = {{s.n, s.axes}};
        out = sp__py_apply(index, &attrs, s.n + 1, in);
    }
    selectors_done(&s);
    return out;
}

/* x[3] without a history: by far the most frequent case, in loops over rows. */
static PyObject *get_row(sp_tensor *x, PyObject *index)
{
    int overflow;
    int64_t i = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (overflow) i = overflow > 0 ? INT64_MAX : INT64_MIN;
    if (check_int(&i, x->dims[0]) < 0) return NULL;
    sp_tensor *out = NULL;
    SP_PY_TRY(sp_tensor_view(x, x->rank - 1, x->dims + 1, x->strides + 1, i * x->strides[0], &out));
    return sp__py_take_tensor(out);
}

PyObject *sp__py_get_item(PyObject *self, PyObject *index)
{
    PyObject *strings = sp__py_strings(self);
    if (strings) { /* numpy's business, as all that concerns strings */
        PyObject *part = PyObject_GetItem(strings, index);
        PyObject *made = part ? PyObject_CallFunctionObjArgs((PyObject *)sp__py_tensor_type, part, NULL) : NULL;
        Py_XDECREF(part);
        Py_DECREF(strings);
        return made;
    }
    sp_tensor *x = sp__py_tensor(self);
    if (!x || !sp__py_sizes_known(x)) return NULL;
    if (PyLong_CheckExact(index) && x->rank && !records(x)) return get_row(x, index);
    if (x->rank == 0 && PyLong_CheckExact(index)) {
        PyErr_SetString(PyExc_TypeError, "a Tensor without dimensions cannot be indexed by an integer");
        return NULL;
    }
    parsed_index p;
    plan g;
    sp_tensor *out = NULL;
    if (read_index(index, &p) < 0 || make_plan(x, &p, &g) < 0) goto done;
    if (p.nothing) {
        PyErr_SetString(PyExc_IndexError, "False as an index would select nothing: only True is possible");
        goto done;
    }
    out = geometric(x, &g);
    if (out && p.advanced) {
        sp_tensor *base = out;
        out = get_selected(base, &g);
        sp_tensor_release(base);
    }
done:
    parsed_done(&p);
    return sp__py_take_tensor(out);
}

/* --- set --------------------------------------------------------------------------------------------------------- */

/* The value as a tensor of x's dtype, +1. */
static sp_tensor *value_tensor(const sp_tensor *x, PyObject *value)
{
    if (sp__py_is_tensor(value)) {
        sp_tensor *t = sp__py_tensor(value);
        if (!t || t->dtype == x->dtype) return t ? sp_tensor_retain(t) : NULL;
        static const sp_op *cast;
        if (!cast && !(cast = sp__py_op("cast"))) return NULL;
        const struct {
            sp_dtype dtype;
        } attrs = {(sp_dtype)x->dtype};
        return sp__py_apply(cast, &attrs, 1, &t);
    }
    if (value == Py_None || PyUnicode_Check(value) || PyDict_Check(value)) {
        PyErr_Format(PyExc_TypeError,
                     "only numbers, Tensors, arrays, tuples and lists can be written into a Tensor, but got %s",
                     sp__py_type_name(value));
        return NULL;
    }
    if (PyComplex_Check(value) && sp_dtype_kind((sp_dtype)x->dtype) != 'c') {
        PyErr_Format(PyExc_TypeError, "a complex number cannot be written into a Tensor of dtype %s",
                     sp_dtype_name((sp_dtype)x->dtype));
        return NULL;
    }
    return sp__py_make_tensor(value, (sp_dtype)x->dtype);
}

/* Write value, broadcast, over the view. */
static int write_view(sp_tensor *view, const sp_tensor *value)
{
    int rank = value->rank;
    const int64_t *dims = value->dims, *steps = value->strides;
    while (rank > view->rank && dims[0] == 1) rank--, dims++, steps++; /* leading ones say nothing */
    int64_t strides[SP_RANK_MAX];
    bool fits = rank <= view->rank;
    for (int i = 0; fits && i < view->rank; i++) {
        int k = i - (view->rank - rank);
        fits = k < 0 || dims[k] == view->dims[i] || dims[k] == 1;
        strides[i] = k < 0 || dims[k] == 1 ? 0 : steps[k];
    }
    if (!fits) {
        char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
        PyErr_Format(PyExc_ValueError, "a value of shape %s cannot be written where the shape is %s",
                     sp__shape_text(value->rank, value->dims, a), sp__shape_text(view->rank, view->dims, b));
        return -1;
    }
    sp_tensor *wide = NULL, *copy = NULL;
    sp_status status =
        sp__tensor_handle((sp_dtype)value->dtype, view->rank, view->dims, strides, value->storage, value->data, &wide);
    if (status == SP_OK && sp_tensor_shares(view, value)) { /* x[1:] = x[:-1] */
        status = sp_tensor_copy(wide, &copy);
        sp_tensor_release(wide);
        wide = copy;
    }
    if (status == SP_OK) status = sp_tensor_assign(view, wide);
    if (status == SP_OK) sp__tensor_wrote(view);
    sp_tensor_release(wide);
    return status == SP_OK ? 0 : (sp__py_fail(status), -1);
}

/* Through the operators that write in place, so that the history learns of it. */
static int put_slice(sp_tensor *x, const plan *g, sp_tensor *value)
{
    static const sp_op *put, *reshape;
    if ((!put && !(put = sp__py_op("slice_put"))) || (!reshape && !(reshape = sp__py_op("reshape")))) return -1;
    /* The value in the dimensions of x: those an integer took and those None added come and go. */
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) dims[i] = g->length[i];
    sp_tensor *wide = NULL, *shaped = NULL;
    static const sp_op *broadcast;
    if (!broadcast && !(broadcast = sp__py_op("broadcast_to"))) return -1;
    const struct {
        sp_ints shape;
    } to = {{g->rank, g->dims}}, as = {{x->rank, dims}};
    wide = sp__py_apply(broadcast, &to, 1, &value);
    if (wide) shaped = sp__py_apply(reshape, &as, 1, &wide);
    sp_tensor_release(wide);
    if (!shaped) return -1;
    const struct {
        sp_ints start, stop, step;
    } attrs = {{x->rank, g->start}, {x->rank, g->stop}, {x->rank, g->step}};
    sp_tensor *in[2] = {x, shaped};
    sp_tensor *out = sp__py_apply(put, &attrs, 2, in);
    sp_tensor_release(shaped);
    sp_tensor_release(out);
    return out ? 0 : -1;
}

/* x[mask] = value with a mask of all dimensions and a value of as many: of each place the value's own, +1. (What a mask
 * selects has one dimension, so that a value of more can mean nothing else.) */
static sp_tensor *value_under_mask(const sp_tensor *base, const plan *g, const selectors *s, sp_tensor *value)
{
    const bool all =
        g->n_select == 1 && g->select[0] && g->select[0]->dtype == SP_DTYPE_BOOL && g->select[0]->rank == base->rank;
    if (!all || base->rank < 2 || value->rank != base->rank) return sp_tensor_retain(value);
    static const sp_op *broadcast, *index;
    if ((!broadcast && !(broadcast = sp__py_op("broadcast_to"))) || (!index && !(index = sp__py_op("index"))))
        return NULL;
    const struct {
        sp_ints shape;
    } to = {{base->rank, base->dims}};
    const struct {
        sp_ints axes;
    } attrs = {{s->n, s->axes}};
    sp_tensor *wide = sp__py_apply(broadcast, &to, 1, &value), *in[SP_RANK_MAX + 1] = {wide};
    for (int i = 0; i < s->n; i++) in[i + 1] = s->t[i];
    sp_tensor *out = wide ? sp__py_apply(index, &attrs, s->n + 1, in) : NULL;
    sp_tensor_release(wide);
    return out;
}

static int put_selected(sp_tensor *base, const plan *g, sp_tensor *value)
{
    static const sp_op *put;
    if (!put && !(put = sp__py_op("index_put"))) return -1;
    selectors s;
    sp_tensor *out = NULL, *in[SP_RANK_MAX + 2] = {base};
    if (make_selectors(g, &s) == 0 && (in[1] = value_under_mask(base, g, &s, value))) {
        for (int i = 0; i < s.n; i++) in[i + 2] = s.t[i];
        const struct {
            sp_ints axes;
            bool accumulate;
        } attrs = {{s.n, s.axes}, false};
        out = sp__py_apply(put, &attrs, s.n + 2, in);
        sp_tensor_release(in[1]);
    }
    selectors_done(&s);
    sp_tensor_release(out);
    return out ? 0 : -1;
}

/* Selectors over a part of x, with a history to keep: a copy of the part is changed and put back. */
static int put_part(sp_tensor *x, const plan *g, sp_tensor *value)
{
    static const sp_op *copy;
    if (!copy && !(copy = sp__py_op("copy"))) return -1;
    sp_tensor *view = geometric(x, g), *part = view ? sp__py_apply(copy, NULL, 1, &view) : NULL;
    int result = part && put_selected(part, g, value) == 0 ? put_slice(x, g, part) : -1;
    sp_tensor_release(view);
    sp_tensor_release(part);
    return result;
}

/* A write that reaches no element does nothing, whatever the shape of the value, as in MindSpore. */
static bool is_empty(const plan *g)
{
    for (int i = 0; i < g->rank; i++)
        if (g->dims[i] == 0) return true;
    return false;
}

int sp__py_set_item(PyObject *self, PyObject *index, PyObject *value)
{
    if (!value) return PyErr_SetString(PyExc_TypeError, "elements of a Tensor cannot be deleted"), -1;
    sp_tensor *x = sp__py_tensor(self);
    if (!x || !sp__py_sizes_known(x)) return -1;
    parsed_index p;
    plan g;
    int result = -1;
    sp_tensor *v = NULL, *base = NULL;
    if (PyList_Check(index) && PyList_Size(index) == 0) { /* read_index refuses it: read, it is an error */
        v = value_tensor(x, value);
        const int written = v ? 0 : -1;
        sp_tensor_release(v);
        return written;
    }
    if (read_index(index, &p) < 0 || make_plan(x, &p, &g) < 0) goto done;
    v = value_tensor(x, value);
    if (!v) goto done;
    if (p.nothing || (!p.advanced && is_empty(&g))) {
        result = 0;
    } else if (!p.advanced) {
        if (records(x) || records(v)) {
            result = put_slice(x, &g, v);
        } else {
            base = geometric(x, &g);
            result = base ? write_view(base, v) : -1;
        }
    } else if (g.rank == x->rank && sp__shape_equal(g.rank, g.dims, x->rank, x->dims)) {
        result = put_selected(x, &g, v);
    } else if (records(x) || records(v)) {
        result = put_part(x, &g, v);
    } else { /* a view of x: writing it writes x */
        base = geometric(x, &g);
        result = base ? put_selected(base, &g, v) : -1;
    }
done:
    sp_tensor_release(v);
    sp_tensor_release(base);
    parsed_done(&p);
    return result;
}
