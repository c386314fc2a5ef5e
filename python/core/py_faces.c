/* SPDX-License-Identifier: Apache-2.0 */
/* py_faces.c - calling operators through their faces: Python arguments to inputs and attributes, results to Tensors. */
#include <stdlib.h>

#include "base/plain.h"
#include "py_faces.h"

/* --- binding arguments ------------------------------------------------------------------------------------------- */

static int bind_error(const face *f, const char *problem, PyObject *name)
{
    if (name) PyErr_Format(PyExc_TypeError, "%s() %s '%U'", f->name, problem, name);
    else PyErr_Format(PyExc_TypeError, "%s() %s", f->name, problem);
    return -1;
}

/* With the keyword that may have been meant. */
static int unexpected(const face *f, int begin, int end, PyObject *name)
{
    PyObject *accepted = PyList_New(0), *module = accepted ? PyImport_ImportModule("spore._moves") : NULL;
    for (int i = begin; module && i < end; i++)
        if (f->args[i].key && PyList_Append(accepted, f->args[i].key) < 0) Py_CLEAR(module);
    PyObject *hint = module ? PyObject_CallMethod(module, "keyword_hint", "OO", name, accepted) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(accepted);
    if (!hint) return -1;
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'%U", f->name, name, hint);
    Py_DECREF(hint);
    return -1;
}

static bool same_name(PyObject *a, PyObject *b) { return a == b || PyUnicode_Compare(a, b) == 0; }

/* Positional and keyword arguments into slots[begin..end), borrowed; *packed holds a tuple made for a star argument, *n_known how many
 * keywords were taken before a failure. */
static int bind(const face *f, int begin, int end, PyObject *const *args, Py_ssize_t n, PyObject *names,
                PyObject **slots, PyObject **packed, Py_ssize_t *n_known)
{
    *n_known = 0;
    Py_ssize_t used = 0;
    for (int i = begin; i < end; i++) {
        const face_arg *a = &f->args[i];
        slots[i] = NULL;
        if (a->fixed) continue;
        if (a->star) {
            Py_ssize_t rest = n - used;
            if (rest == 1 && (PyTuple_Check(args[used]) || PyList_Check(args[used]) || args[used] == Py_None ||
                              (a->attr && !PyLong_Check(args[used])))) {
                slots[i] = args[used]; /* one tuple stands for all */
            } else if (rest > 0) {
                *packed = PyTuple_New(rest);
                if (!*packed) return -1;
                for (Py_ssize_t k = 0; k < rest; k++) PyTuple_SetItem(*packed, k, Py_NewRef(args[used + k]));
                slots[i] = *packed;
            }
            used = n;
        } else if (used < n && !a->keyword_only) {
            slots[i] = args[used++];
        }
    }
    if (used < n) {
        int most = 0;
        for (int i = begin; i < end; i++) most += !f->args[i].keyword_only && !f->args[i].fixed;
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments, but got %zd", f->name, most, n);
        return -1;
    }
    Py_ssize_t n_names = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < n_names; k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        int at = -1;
        for (int i = begin; i < end && at < 0; i++)
            if (!f->args[i].fixed && same_name(f->args[i].key, name)) at = i;
        if (at < 0) return unexpected(f, begin, end, name);
        if (slots[at]) return bind_error(f, "got multiple values for argument", name);
        slots[at] = args[n + k];
        ++*n_known;
    }
    for (int i = begin; i < end; i++)
        if (!slots[i] && !f->args[i].initial && !f->args[i].fixed && !f->args[i].star)
            return bind_error(f, "is missing the argument", f->args[i].key);
    return 0;
}

/* --- inputs ------------------------------------------------------------------------------------------------------ */

typedef struct call_inputs {
    int n, capacity, n_own, n_real; /* n_real: how many are Tensors or arrays, not numbers */
    sp_tensor **in, **own;
    sp_tensor *few_in[SP_IN_MAX], *few_own[SP_IN_MAX];
} call_inputs;

static void inputs_done(call_inputs *c)
{
    for (int i = 0; i < c->n_own; i++) sp_tensor_release(c->own[i]);
    if (c->in != c->few_in) {
        PyMem_Free(c->in);
        PyMem_Free(c->own);
    }
}

static int inputs_room(call_inputs *c, Py_ssize_t n)
{
    if (n <= SP_IN_MAX) return 0;
    sp_tensor **in = PyMem_Calloc((size_t)n, sizeof *in), **own = PyMem_Calloc((size_t)n, sizeof *own);
    if (!in || !own) {
        PyMem_Free(in);
        PyMem_Free(own);
        return sp__py_no_memory(), -1;
    }
    memcpy(in, c->few_in, sizeof c->few_in);
    memcpy(own, c->few_own, sizeof c->few_own);
    c->in = in;
    c->own = own;
    return 0;
}

static int input_wrong(const face *f, const char *shown, const char *wanted, PyObject *value)
{
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: %s must be %s, but got %s", f->name, shown, wanted, sp__py_type_name(value));
    return -1;
}

static int put_input(const face *f, call_inputs *c, int at, const char *shown, PyObject *value)
{
    if (sp__py_is_tensor(value)) {
        c->n_real++;
        return (c->in[at] = sp__py_tensor(value)) ? 0 : -1;
    }
    sp_tensor *t = sp__py_weak_number(value);
    if (!t && !PyErr_Occurred() && (sp__py_is_array(value) || PyList_Check(value) || PyTuple_Check(value))) {
        t = sp__py_make_tensor(value, SP_DTYPE_NONE);
        c->n_real++;
    }
    if (!t && !PyErr_Occurred() && (t = sp__py_foreign(value)) != NULL) c->n_real++;
    if (!t) return input_wrong(f, shown, "a Tensor", value);
    c->own[c->n_own++] = c->in[at] = t;
    return 0;
}

/* A default of an input written in the face: a number. */
static int put_default(call_inputs *c, int at, const char *text)
{
    if (strcmp(text, "None") == 0) return 0;
    const bool truth = strcmp(text, "True") == 0;
    PyObject *number = truth || strcmp(text, "False") == 0  ? PyBool_FromLong(truth)
                       : text[strspn(text, "+-0123456789")] ? PyFloat_FromDouble(sp__strtod(text, NULL))
                                                            : PyLong_FromString(text, NULL, 10);
    sp_tensor *t = number ? sp__py_weak_number(number) : NULL;
    Py_XDECREF(number);
    if (!t) return -1;
    c->own[c->n_own++] = c->in[at] = t;
    return 0;
}

static int put_variadic(const face *f, call_inputs *c, int at, const char *shown, PyObject *value)
{
    const bool tuple = PyTuple_Check(value);
    if (!tuple && !PyList_Check(value)) {
        if (sp__py_is_tensor(value)) return c->n = at + 1, put_input(f, c, at, shown, value);
        return input_wrong(f, shown, "a tuple or list of Tensors", value);
    }
    Py_ssize_t n = tuple ? PyTuple_Size(value) : PyList_Size(value);
    if (inputs_room(c, at + n) < 0) return -1;
    c->n = at + (int)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = tuple ? PyTuple_GetItem(value, i) : PyList_GetItem(value, i);
        char name[64];
        PyOS_snprintf(name, sizeof name, "%s[%d]", shown, (int)i);
        if (put_input(f, c, at + (int)i, name, item) < 0) return -1;
    }
    return 0;
}

/* Numbers are fine beside a Tensor; numbers alone are a mistake but for operators that say otherwise. */
static bool numbers_alone(const face *f, PyObject *const *slots)
{
    if (f->op->numbers_alone) return true;
    return f->op->truths_alone && f->n_args == 2 && slots[0] && slots[1] && PyBool_Check(slots[0]) &&
           PyBool_Check(slots[1]);
}

static int fill_inputs(const face *f, PyObject *self, PyObject *const *slots, call_inputs *c)
{
    *c = (call_inputs){.in = c->few_in, .own = c->few_own};
    const int fixed = f->inputs->n - f->inputs->variadic;
    c->n = fixed;
    if (self && put_input(f, c, 0, f->inputs->names[0], self) < 0) return -1;
    PyObject *first_number = NULL;
    const char *first_name = NULL;
    for (int i = 0; i < f->n_args; i++) {
        const face_arg *a = &f->args[i];
        if (a->input < 0) continue;
        PyObject *value = slots[i];
        if (f->inputs->variadic && a->input == fixed) {
            if (value && put_variadic(f, c, fixed, a->name, value) < 0) return -1;
        } else if (!value) {
            if (a->initial && put_default(c, a->input, a->initial) < 0) return -1;
        } else if (value == Py_None) {
            if (!(f->inputs->optional >> a->input & 1u)) return input_wrong(f, a->name, "a Tensor", value);
        } else {
            int before = c->n_real;
            if (put_input(f, c, a->input, a->name, value) < 0) return -1;
            if (c->n_real == before && !first_number) first_number = value, first_name = a->name;
        }
    }
    if (first_number && c->n_real == 0 && !numbers_alone(f, slots))
        return input_wrong(f, first_name, "a Tensor", first_number);
    return 0;
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

static PyObject *run(const face *f, PyObject *self, PyObject *const *slots)
{
    union {
        char bytes[512];
        max_align_t align;
    } few;
    void *attrs = NULL;
    PyObject *result = NULL;
    attr_scratch scratch;
    call_inputs c;
    sp__py_scratch_init(&scratch);
    if (fill_inputs(f, self, slots, &c) < 0) goto done;
    if (f->attrs) {
        attrs = f->op->attrs_bytes <= sizeof few ? few.bytes : PyMem_Malloc(f->op->attrs_bytes);
        if (!attrs) {
            sp__py_no_memory();
            goto done;
        }
        memcpy(attrs, f->attrs, f->op->attrs_bytes);
        for (int i = 0; i < f->n_args; i++)
            if (slots[i] && f->args[i].attr &&
                sp__py_set_attr(f->name, f->args[i].name, f->args[i].attr, slots[i], attrs, &scratch) < 0)
                goto done;
    }
    result = sp__py_apply_object(f->op, attrs, c.n, c.in);
done:
    if (attrs != few.bytes) PyMem_Free(attrs);
    sp__py_scratch_done(&scratch);
    inputs_done(&c);
    return result;
}

static PyObject *call(face *f, PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *slots[FACE_ARGS_MAX], *result = NULL;
    PyObject *type = NULL, *value = NULL, *trace = NULL; /* the error of the face that understood most of the call */
    Py_ssize_t most = -1;
    for (; f; f = f->next) {
        if (!f->parsed && sp__py_face_parse(f) < 0) break;
        PyObject *packed = NULL;
        Py_ssize_t n_known;
        int bound = bind(f, 0, f->n_args, args, n, names, slots, &packed, &n_known);
        result = bound < 0 ? NULL : run(f, self, slots);
        Py_XDECREF(packed);
        if (result || (!f->next && most < 0) || !PyErr_ExceptionMatches(PyExc_TypeError)) break;
        if (bound == 0) n_known = PY_SSIZE_T_MAX;
        if (n_known < most) {
            PyErr_Clear();
        } else { /* the arguments may fit the next face of this name */
            most = n_known;
            Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
            PyErr_Fetch(&type, &value, &trace);
        }
    }
    if (f || most < 0) Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    else PyErr_Restore(type, value, trace);
    return result;
}

/* --- functions: built-in functions whose self knows the face
 * ----------------------------------------------------------- */

typedef struct holder {
    PyObject_HEAD face *f;
    PyObject **preset; /* of a primitive: values of the constructor's arguments */
    PyMethodDef def;
} holder;
static PyTypeObject *holder_type, *bound_type;

static void holder_dealloc(PyObject *self)
{
    holder *h = (holder *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; h->preset && i < h->f->n_init; i++) Py_XDECREF(h->preset[i]);
    PyMem_Free(h->preset);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot holder_slots[] = {
    {Py_tp_dealloc, holder_dealloc}, {Py_tp_doc, (void *)"An operator of the table."}, {0, NULL}};
static PyType_Spec holder_spec = {.name = "spore._core.Operator",
                                  .basicsize = sizeof(holder),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = holder_slots};
static PyType_Spec bound_spec = {.name = "spore._core.BoundPrimitive",
                                 .basicsize = sizeof(holder),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = holder_slots};

static holder *holder_new(PyTypeObject *type, face *f)
{
    holder *h = PyObject_New(holder, type);
    if (!h) return NULL;
    h->f = f;
    h->preset = NULL;
    return h;
}

static PyObject *call_function(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    return call(((holder *)self)->f, NULL, args, n, names);
}

static PyObject *call_primitive(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    holder *h = (holder *)self;
    PyObject *slots[FACE_ARGS_MAX], *packed = NULL;
    for (int i = 0; i < h->f->n_init; i++) slots[i] = h->preset[i];
    Py_ssize_t n_known;
    int bound = bind(h->f, h->f->n_init, h->f->n_args, args, n, names, slots, &packed, &n_known);
    PyObject *result = bound < 0 ? NULL : run(h->f, NULL, slots);
    Py_XDECREF(packed);
    return result;
}

/* The constructor of a primitive: checks and keeps its arguments, answers the function to call. */
static PyObject *bind_primitive(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    face *f = ((holder *)self)->f;
    if (!f->parsed && sp__py_face_parse(f) < 0) return NULL;
    PyObject *slots[FACE_ARGS_MAX], *packed = NULL, *result = NULL;
    holder *h = NULL;
    Py_ssize_t n_known;
    attr_scratch scratch;
    sp__py_scratch_init(&scratch);
    void *attrs = f->op->n_attrs ? PyMem_Malloc(f->op->attrs_bytes) : NULL;
    if (f->op->n_attrs && !attrs) return sp__py_no_memory();
    if (bind(f, 0, f->n_init, args, n, names, slots, &packed, &n_known) < 0) goto done;
    for (int i = 0; i < f->n_init; i++)
        if (slots[i] && f->args[i].attr &&
            sp__py_set_attr(f->name, f->args[i].name, f->args[i].attr, slots[i], attrs, &scratch) < 0)
            goto done;
    h = holder_new(bound_type, f);
    if (!h) goto done;
    h->preset = PyMem_Calloc((size_t)f->n_init + 1, sizeof *h->preset);
    if (!h->preset) {
        sp__py_no_memory();
        goto done;
    }
    for (int i = 0; i < f->n_init; i++) h->preset[i] = slots[i] ? Py_NewRef(slots[i]) : NULL;
    h->def = (PyMethodDef){f->name, (PyCFunction)(void (*)(void))call_primitive, METH_FASTCALL | METH_KEYWORDS, NULL};
    result = PyCFunction_NewEx(&h->def, (PyObject *)h, NULL);
done:
    Py_XDECREF((PyObject *)h);
    Py_XDECREF(packed);
    sp__py_scratch_done(&scratch);
    PyMem_Free(attrs);
    return result;
}

/* --- methods: one C function each, since a method descriptor tells its function nothing but self
 * ---------------------- */

enum { METHODS_MAX = 1024 };
static face *methods[METHODS_MAX];
static int n_methods;

#define M1(n)                                                                                                          \
    static PyObject *method_##n(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)              \
    {                                                                                                                  \
        return call(methods[0x##n], self, args, count, names);                                                         \
    }
/* clang-format off */
#define M16(n)                                                                                                         \
    M1(n##0) M1(n##1) M1(n##2) M1(n##3) M1(n##4) M1(n##5) M1(n##6) M1(n##7)                                            \
    M1(n##8) M1(n##9) M1(n##a) M1(n##b) M1(n##c) M1(n##d) M1(n##e) M1(n##f)
#define M256(n)                                                                                                        \
    M16(n##0) M16(n##1) M16(n##2) M16(n##3) M16(n##4) M16(n##5) M16(n##6) M16(n##7)                                    \
    M16(n##8) M16(n##9) M16(n##a) M16(n##b) M16(n##c) M16(n##d) M16(n##e) M16(n##f)
M256(0) M256(1) M256(2) M256(3)
#undef M1
#define M1(n) method_##n,
typedef PyObject *(*method_fn)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
static const method_fn method_table[METHODS_MAX] = {M256(0) M256(1) M256(2) M256(3)};
/* clang-format on */

/* --- objects for Python ------------------------------------------------------------------------------------------ */

/* "relu(input)\n--\n\ntext": what inspect and help() read. */
static char *make_doc(const face *f)
{
    char *signature = sp__py_face_signature(f->method ? "$self" : "", f->primitive ? f->init_text : f->call_text);
    char *example = signature ? sp__py_face_example(f) : NULL, *doc = NULL;
    const char *text = f->op->doc ? f->op->doc : "";
    if (example) {
        size_t room = strlen(f->name) + strlen(signature) + strlen(text) + strlen(example) + 8;
        doc = PyMem_Malloc(room);
        if (doc) PyOS_snprintf(doc, room, "%s%s\n--\n\n%s%s", f->name, signature, text, example);
        else sp__py_no_memory();
    }
    PyMem_Free(example);
    PyMem_Free(signature);
    return doc;
}

static PyObject *make_callable(face *f, PyObject *module_name)
{
    char *doc = make_doc(f); /* lives as long as the process, like the function */
    if (!doc) return NULL;
    method_fn fn = f->primitive ? bind_primitive : call_function;
    if (f->method) {
        if (n_methods == METHODS_MAX)
            return PyErr_Format(PyExc_SystemError, "more than %d methods in the operator table", METHODS_MAX);
        methods[n_methods] = f;
        fn = method_table[n_methods++];
    }
    f->def = (PyMethodDef){f->name, (PyCFunction)(void (*)(void))fn, METH_FASTCALL | METH_KEYWORDS, doc};
    if (f->method) return PyDescr_NewMethod(sp__py_tensor_type, &f->def);
    holder *h = holder_new(holder_type, f);
    if (!h) return NULL;
    PyObject *function = PyCFunction_NewEx(&f->def, (PyObject *)h, module_name);
    Py_DECREF((PyObject *)h);
    return function;
}

static PyObject *described(const face *f)
{
    PyObject *init = NULL, *result = NULL;
    char *init_text = f->primitive ? sp__py_face_signature("", f->init_text) : NULL;
    char *call_text = sp__py_face_signature("", f->call_text);
    if ((f->primitive && !init_text) || !call_text) goto done;
    init = init_text ? PyUnicode_FromString(init_text) : Py_NewRef(Py_None);
    if (init)
        result = Py_BuildValue("ssOsOss", f->place, f->name, init, call_text, f->callable, f->op->name,
                               f->op->doc ? f->op->doc : "");
done:
    Py_XDECREF(init);
    PyMem_Free(init_text);
    PyMem_Free(call_text);
    return result;
}

/* Make the callables; faces of one place and name become one chain. */
static face *prepared(int *n)
{
    static bool ready;
    face *all = sp__py_faces(n);
    if (!all || ready) return all;
    PyObject *seen = PyDict_New();
    if (!seen) return NULL;
    for (int i = 0; i < *n; i++) {
        face *f = &all[i];
        PyObject *key = PyUnicode_FromFormat("%s.%s", f->place, f->name);
        PyObject *first = key ? PyDict_GetItemWithError(seen, key) : NULL;
        int failed = PyErr_Occurred() != NULL;
        if (first) {
            face *last = PyLong_AsVoidPtr(first);
            while (last->next) last = last->next;
            last->next = f;
        } else if (!failed) {
            PyObject *address = PyLong_FromVoidPtr(f);
            PyObject *module_name = PyUnicode_FromFormat("spore.%s", f->place);
            failed = !address || !module_name || PyDict_SetItem(seen, key, address) < 0 ||
                     !(f->callable = make_callable(f, module_name));
            Py_XDECREF(address);
            Py_XDECREF(module_name);
        }
        Py_XDECREF(key);
        if (failed) {
            Py_DECREF(seen);
            return NULL;
        }
    }
    Py_DECREF(seen);
    ready = true;
    return all;
}

/* faces() -> [(place, name, init_signature or None, call_signature, callable, operator, doc)] */
static PyObject *list_faces(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int n;
    face *all = prepared(&n);
    PyObject *list = all ? PyList_New(0) : NULL;
    for (int i = 0; list && i < n; i++) {
        if (!all[i].callable) continue;
        PyObject *row = described(&all[i]);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* face_map() -> {place: {name: (callable, is_primitive)}}, the cheap form for import. */
static PyObject *map_faces(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int n;
    face *all = prepared(&n);
    PyObject *map = all ? PyDict_New() : NULL;
    for (int i = 0; map && i < n; i++) {
        if (!all[i].callable) continue;
        PyObject *place = PyDict_GetItemString(map, all[i].place);
        if (!place) {
            place = PyDict_New();
            int failed = !place || PyDict_SetItemString(map, all[i].place, place) < 0;
            Py_XDECREF(place);
            if (failed) {
                Py_CLEAR(map);
                break;
            }
        }
        PyObject *row = Py_BuildValue("OO", all[i].callable, all[i].primitive ? Py_True : Py_False);
        if (!row || PyDict_SetItemString(place, all[i].name, row) < 0) Py_CLEAR(map);
        Py_XDECREF(row);
    }
    return map;
}

/* face_arguments(place, name) -> (init, call): [(name, default text or None, attribute or input it sets)] each */
static PyObject *face_arguments(PyObject *module, PyObject *args)
{
    (void)module;
    const char *place, *name;
    if (!PyArg_ParseTuple(args, "ss", &place, &name)) return NULL;
    int n;
    face *all = prepared(&n);
    if (!all) return NULL;
    for (int i = 0; i < n; i++) {
        face *f = &all[i];
        if (strcmp(f->place, place) != 0 || strcmp(f->name, name) != 0) continue;
        if (sp__py_face_parse(f) < 0) return NULL;
        PyObject *parts[2] = {PyList_New(0), PyList_New(0)};
        for (int k = 0; parts[0] && parts[1] && k < f->n_args; k++) {
            const face_arg *a = &f->args[k];
            PyObject *row =
                Py_BuildValue("szs", a->name, a->initial, a->attr ? a->attr->name : f->inputs->names[a->input]);
            if (!row || PyList_Append(parts[k >= f->n_init], row) < 0) Py_CLEAR(parts[0]);
            Py_XDECREF(row);
        }
        if (parts[0] && parts[1]) return Py_BuildValue("NN", parts[0], parts[1]);
        Py_XDECREF(parts[0]);
        Py_XDECREF(parts[1]);
        return NULL;
    }
    return PyErr_Format(PyExc_KeyError, "no operator has the face %s.%s", place, name);
}

static PyMethodDef functions[] = {
    {"faces", list_faces, METH_NOARGS,
     "faces()\n--\n\nEvery function, method and primitive that the operator table declares."},
    {"face_map", map_faces, METH_NOARGS, "face_map()\n--\n\nThe same as {place: {name: (callable, is_primitive)}}."},
    {"face_arguments", face_arguments, METH_VARARGS, "face_arguments(place, name)\n--\n\nArguments of one face."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_faces(PyObject *module)
{
    holder_type = (PyTypeObject *)PyType_FromSpec(&holder_spec);
    bound_type = (PyTypeObject *)PyType_FromSpec(&bound_spec);
    return holder_type && bound_type ? PyModule_AddFunctions(module, functions) : -1;
}
