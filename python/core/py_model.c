/* SPDX-License-Identifier: Apache-2.0 */
/* py_model.c - models from files for the Python package: Model objects with their faces, parameters and a call. */
#include "core.h"
#include "py_lists.h"

#include "spore/codegen.h"
#include "spore/model.h"

typedef struct py_model {
    PyObject_HEAD sp_model *model;
} py_model;

static PyTypeObject *model_type;

static void model_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    sp_model_release(((py_model *)self)->model);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* (name, dtype text or None, dims or None) of one input or output. */
static PyObject *face(const char *name, const sp_spec *spec)
{
    PyObject *dims = NULL;
    if (spec->rank < 0) dims = Py_NewRef(Py_None);
    else if ((dims = PyTuple_New(spec->rank)) != NULL) {
        for (int i = 0; i < spec->rank; i++) {
            PyObject *d = PyLong_FromLongLong(spec->dims[i]);
            if (d == NULL || PyTuple_SetItem(dims, i, d) != 0) {
                Py_DECREF(dims);
                return NULL;
            }
        }
    }
    if (dims == NULL) return NULL;
    return Py_BuildValue("(szN)", name, spec->dtype == SP_DTYPE_NONE ? NULL : sp_dtype_text(spec->dtype), dims);
}

static PyObject *faces(PyObject *self, bool inputs)
{
    const sp_model *m = ((py_model *)self)->model;
    int n = inputs ? sp_model_inputs(m) : sp_model_outputs(m);
    PyObject *list = PyList_New(n);
    for (int i = 0; list != NULL && i < n; i++) {
        PyObject *f = inputs ? face(sp_model_input_name(m, i), sp_model_input_spec(m, i))
                             : face(sp_model_output_name(m, i), sp_model_output_spec(m, i));
        if (f == NULL || PyList_SetItem(list, i, f) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *model_inputs(PyObject *self, PyObject *unused)
{
    (void)unused;
    return faces(self, true);
}

static PyObject *model_outputs(PyObject *self, PyObject *unused)
{
    (void)unused;
    return faces(self, false);
}

static PyObject *model_form(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("z", sp_model_form(((py_model *)self)->model));
}

static PyObject *model_parameters(PyObject *self, PyObject *unused)
{
    (void)unused;
    const sp_bundle *b = sp_model_parameters(((py_model *)self)->model);
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list != NULL && i < sp_bundle_count(b); i++) {
        sp_tensor *t = sp_bundle_tensor_at(b, i);
        PyObject *tensor = t != NULL ? sp__py_take_tensor(sp_tensor_retain(t)) : sp__py_fail(SP_NOMEM);
        PyObject *entry = tensor != NULL ? Py_BuildValue("(sN)", sp_bundle_name_at(b, i), tensor) : NULL;
        if (entry == NULL || PyList_Append(list, entry) != 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *results_of(sp_tensor **out, int n)
{
    PyObject *list = PyList_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *t = out[i] != NULL ? sp__py_take_tensor(out[i]) : Py_NewRef(Py_None);
        if (list == NULL || t == NULL) {
            Py_XDECREF(t);
            Py_CLEAR(list);
        } else if (PyList_SetItem(list, i, t) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *model_set_shape(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *list;
    int64_t dims[SP_RANK_MAX];
    if (!PyArg_ParseTuple(args, "sO!:set_shape", &name, &PyTuple_Type, &list)) return NULL;
    const Py_ssize_t n = PyTuple_Size(list);
    if (n > SP_RANK_MAX) return PyErr_Format(PyExc_ValueError, "a shape has at most %d dimensions", SP_RANK_MAX);
    for (Py_ssize_t i = 0; i < n; i++) {
        dims[i] = PyLong_AsLongLong(PyTuple_GetItem(list, i));
        if (dims[i] == -1 && PyErr_Occurred()) return NULL;
    }
    SP_PY_TRY(sp_model_set_input_shape(((py_model *)self)->model, name, (int)n, dims));
    Py_RETURN_NONE;
}

static PyObject *model_bind(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *tensor;
    if (!PyArg_ParseTuple(args, "sO!:bind", &name, sp__py_tensor_type, &tensor)) return NULL;
    SP_PY_TRY(sp_model_set_parameter(((py_model *)self)->model, name, sp__py_tensor(tensor)));
    Py_RETURN_NONE;
}

/* --- texts and sequences ----------------------------------------------------------------------------------------- */

/* A Tensor of strings, or an array of them, as an item. */
static sp_item *texts_item(PyObject *o)
{
    PyObject *make = sp__py_numpy("array"), *array = make ? PyObject_CallFunction(make, "Os", o, "U") : NULL;
    PyObject *shape = array ? PyObject_GetAttrString(array, "shape") : NULL;
    PyObject *flat = array ? PyObject_CallMethod(array, "ravel", NULL) : NULL;
    PyObject *list = flat ? PyObject_CallMethod(flat, "tolist", NULL) : NULL;
    int64_t dims[SP_RANK_MAX];
    int rank = shape && list ? sp__py_ints(shape, dims, SP_RANK_MAX, "shape") : -1;
    Py_ssize_t n = rank >= 0 ? PyList_Size(list) : 0;
    const char **texts = rank >= 0 ? PyMem_Malloc((size_t)(n + 1) * sizeof *texts) : NULL;
    sp_item *item = NULL;
    bool good = texts != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++)
        good = (texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL)) != NULL;
    if (good) {
        sp_status status = sp_item_create_texts(rank, dims, texts, &item);
        if (status != SP_OK) sp__py_fail(status);
    } else if (rank >= 0 && texts == NULL) sp__py_no_memory();
    PyMem_Free(texts);
    Py_XDECREF(list);
    Py_XDECREF(flat);
    Py_XDECREF(shape);
    Py_XDECREF(array);
    return item;
}

/* A Tensor, a list of what can be an item, or strings. NULL with an exception, or for None. */
static sp_item *item_of(PyObject *o, int depth)
{
    enum { LEVELS_MAX = 64 }; /* ONNX has sequences of sequences at most */
    if (o == Py_None) return NULL;
    if (depth == LEVELS_MAX)
        return PyErr_Format(PyExc_TypeError, "lists inside lists, more than %d deep", LEVELS_MAX), NULL;
    PyObject *strings = sp__py_is_tensor(o) ? sp__py_strings(o) : NULL;
    if (strings != NULL) {
        sp_item *item = texts_item(strings);
        Py_DECREF(strings);
        return item;
    }
    sp_item *item = NULL;
    if (PyList_Check(o) || PyTuple_Check(o)) {
        Py_ssize_t n = PySequence_Size(o);
        sp_item **items = PyMem_Malloc((size_t)(n + 1) * sizeof *items);
        if (items == NULL) return (sp__py_no_memory(), NULL);
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject *entry = PyErr_Occurred() == NULL ? PySequence_GetItem(o, i) : NULL;
            items[i] = entry != NULL ? item_of(entry, depth + 1) : NULL;
            Py_XDECREF(entry);
        }
        sp_status status = PyErr_Occurred() == NULL ? sp_item_create_list((int)n, items, &item) : SP_OK;
        for (Py_ssize_t i = 0; i < n; i++) sp_item_release(items[i]);
        PyMem_Free(items);
        if (status != SP_OK) sp__py_fail(status);
        return item;
    }
    if (!sp__py_is_tensor(o)) return texts_item(o);
    sp_tensor *t = sp__py_tensor(o);
    if (t == NULL) return NULL;
    sp_status status = sp_item_create_tensor(t, &item);
    if (status != SP_OK) sp__py_fail(status);
    return item;
}

static PyObject *texts_object(const sp_item *item)
{
    const sp_spec *spec = sp_item_texts(item);
    int64_t n = 1;
    PyObject *dims = PyTuple_New(spec->rank);
    for (int i = 0; dims != NULL && i < spec->rank; i++) {
        n *= spec->dims[i];
        PyObject *d = PyLong_FromLongLong(spec->dims[i]);
        if (d == NULL || PyTuple_SetItem(dims, i, d) != 0) Py_CLEAR(dims);
    }
    PyObject *list = dims != NULL ? PyList_New((Py_ssize_t)n) : NULL;
    for (int64_t i = 0; list != NULL && i < n; i++) {
        const char *text = sp_item_text(item, i);
        PyObject *entry = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
        if (entry == NULL || PyList_SetItem(list, (Py_ssize_t)i, entry) != 0) Py_CLEAR(list);
    }
    PyObject *make = list != NULL ? sp__py_numpy("array") : NULL;
    PyObject *array = make ? PyObject_CallFunction(make, "Os", list, "U") : NULL;
    PyObject *shaped = array ? PyObject_CallMethod(array, "reshape", "(O)", dims) : NULL;
    PyObject *tensor = shaped ? PyObject_CallFunctionObjArgs((PyObject *)sp__py_tensor_type, shaped, NULL) : NULL;
    Py_XDECREF(shaped);
    Py_XDECREF(array);
    Py_XDECREF(list);
    Py_XDECREF(dims);
    return tensor;
}

static PyObject *item_object(const sp_item *item)
{
    if (item == NULL) return Py_NewRef(Py_None);
    if (sp_item_texts(item) != NULL) return texts_object(item);
    if (sp_item_tensor(item) != NULL) return sp__py_take_tensor(sp_tensor_retain(sp_item_tensor(item)));
    PyObject *list = PyList_New(sp_item_count(item));
    for (int i = 0; list != NULL && i < sp_item_count(item); i++) {
        PyObject *entry = item_object(sp_item_at(item, i));
        if (entry == NULL || PyList_SetItem(list, i, entry) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *run_items(sp_model *m, PyObject *args)
{
    int n_in = (int)PyTuple_Size(args), n_out = sp_model_outputs(m);
    size_t all = (size_t)(n_in + n_out + 1);
    sp_item **in = PyMem_Calloc(all, sizeof *in), **out = in != NULL ? in + n_in : NULL;
    if (in == NULL) return sp__py_no_memory();
    for (int i = 0; i < n_in && PyErr_Occurred() == NULL; i++) in[i] = item_of(PyTuple_GetItem(args, i), 0);
    PyObject *list = NULL;
    if (PyErr_Occurred() == NULL) {
        sp_status status;
        Py_BEGIN_ALLOW_THREADS status = sp_model_run_items(m, n_in, in, n_out, out);
        Py_END_ALLOW_THREADS list = status == SP_OK ? PyList_New(n_out) : sp__py_fail(status);
        for (int i = 0; list != NULL && i < n_out; i++) {
            PyObject *entry = item_object(out[i]);
            if (entry == NULL || PyList_SetItem(list, i, entry) != 0) Py_CLEAR(list);
        }
    }
    for (int i = 0; i < n_in + n_out; i++) sp_item_release(in[i]);
    PyMem_Free(in);
    return list;
}

static PyObject *model_run(PyObject *self, PyObject *args)
{
    sp_model *m = ((py_model *)self)->model;
    int n_in = (int)PyTuple_Size(args), n_out = sp_model_outputs(m);
    if (sp_model_needs_items(m)) return run_items(m, args);
    size_t all = (size_t)(n_in + n_out + 1);
    sp_tensor **in = PyMem_Malloc(all * sizeof *in), **out = in != NULL ? in + n_in : NULL;
    if (in == NULL) return sp__py_no_memory();
    for (int i = 0; i < n_in; i++) {
        PyObject *o = PyTuple_GetItem(args, i);
        in[i] = o != Py_None ? sp__py_tensor(o) : NULL;
        if (in[i] == NULL && o != Py_None) {
            PyMem_Free(in);
            return NULL;
        }
    }
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_model_run(m, n_in, in, n_out, out);
    Py_END_ALLOW_THREADS PyObject *result = status == SP_OK ? results_of(out, n_out) : sp__py_fail(status);
    PyMem_Free(in);
    return result;
}

static PyObject *model_allow_sizes(PyObject *self, PyObject *unused)
{
    (void)unused;
    SP_PY_TRY(sp_model_allow_sizes(((py_model *)self)->model));
    Py_RETURN_NONE;
}

static PyObject *model_reset(PyObject *self, PyObject *unused)
{
    (void)unused;
    SP_PY_TRY(sp_model_reset(((py_model *)self)->model));
    Py_RETURN_NONE;
}

static PyObject *model_report(PyObject *self, PyObject *unused)
{
    (void)unused;
    char *text = NULL;
    SP_PY_TRY(sp_model_report(((py_model *)self)->model, &text));
    PyObject *o = PyUnicode_FromString(text);
    sp_text_free(text);
    return o;
}

static PyMethodDef model_methods[] = {
    {"inputs", model_inputs, METH_NOARGS,
     "inputs(): list of (name, dtype, None for a sequence, dims or None); a dimension of -1 is free."},
    {"outputs", model_outputs, METH_NOARGS, "outputs(): the same for the results."},
    {"form", model_form, METH_NOARGS, "form(): how the results belong together (sp_model_form), None: one by one."},
    {"parameters", model_parameters, METH_NOARGS,
     "parameters(): list of (name, Tensor); the tensors are the model's own."},
    {"set_shape", model_set_shape, METH_VARARGS, "set_shape(name, dims): of an input that the file leaves open."},
    {"bind", model_bind, METH_VARARGS,
     "bind(name, tensor): from now on this Tensor is that weight; before the first run."},
    {"run", model_run, METH_VARARGS,
     "run(*inputs): list of Tensors; a list for a sequence, None for what is not there."},
    {"allow_sizes", model_allow_sizes, METH_NOARGS,
     "allow_sizes(): inputs may be of other sizes than a MindIR file declares."},
    {"report", model_report, METH_NOARGS,
     "report(): what its programs are and, if that was asked for, where their time goes."},
    {"reset", model_reset, METH_NOARGS,
     "reset(): what the model keeps from run to run, as it was before the first one."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot model_slots[] = {
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_methods, model_methods},
    {Py_tp_doc, "A network out of a file."},
    {0, NULL},
};

static PyType_Spec model_spec = {.name = "spore._core.Model",
                                 .basicsize = sizeof(py_model),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = model_slots};

static PyObject *take_model(sp_model *model)
{
    py_model *self = (py_model *)PyType_GenericAlloc(model_type, 0);
    if (self == NULL) sp_model_release(model);
    else self->model = model;
    return (PyObject *)self;
}

static PyObject *model_load_memory(PyObject *module, PyObject *args)
{
    (void)module;
    const char *data;
    Py_ssize_t bytes;
    sp_file_options options = {0};
    sp_model *model;
    if (!PyArg_ParseTuple(args, "y#|z:model_load_memory", &data, &bytes, &options.format)) return NULL;
    SP_PY_TRY(sp_model_load_memory(data, (size_t)bytes, &options, &model));
    return take_model(model);
}

static PyObject *model_load(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path_object = NULL, *key = Py_None;
    sp_file_options options = {0};
    const char *mode = NULL;
    if (!PyArg_ParseTuple(args, "O&|zOz:model_load", PyUnicode_FSConverter, &path_object, &options.format, &key, &mode))
        return NULL;
    if (key != Py_None) {
        char *bytes;
        Py_ssize_t n;
        if (PyBytes_AsStringAndSize(key, &bytes, &n) != 0) {
            Py_DECREF(path_object);
            return NULL;
        }
        options.key = bytes;
        options.key_bytes = (size_t)n;
        options.key_mode = mode;
    }
    sp_model *model = NULL;
    const char *path = PyBytes_AsString(path_object);
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_model_load(path, &options, &model);
    Py_END_ALLOW_THREADS Py_DECREF(path_object);
    return status == SP_OK ? take_model(model) : sp__py_fail(status);
}

/* The texts of a list, borrowed; NULL with an exception. */
static const char **texts_of(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    const char **texts = PyMem_Calloc((size_t)n + 1, sizeof *texts);
    if (texts == NULL) return (const char **)sp__py_no_memory();
    for (Py_ssize_t i = 0; i < n; i++)
        if ((texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL)) == NULL) {
            PyMem_Free(texts);
            return NULL;
        }
    return texts;
}

/* axes[i][k]: the name of dimension k of input i where it is free; NULL with an exception. One block. */
static const char *const *const *axes_of(PyObject *list, Py_ssize_t n_inputs, void **block)
{
    const char *(*names)[SP_RANK_MAX] = PyMem_Calloc((size_t)n_inputs + 1, sizeof *names + sizeof(char **));
    const char *const **rows = names != NULL ? (const char *const **)(void *)(names + n_inputs) : NULL;
    if (names == NULL) return (const char *const *const *)sp__py_no_memory();
    *block = names;
    for (Py_ssize_t i = 0; i < n_inputs; i++) {
        PyObject *row = PyList_GetItem(list, i);
        Py_ssize_t n = row != NULL && PyList_Check(row) ? PyList_Size(row) : -1;
        rows[i] = names[i];
        if (n < 0 || n > SP_RANK_MAX) {
            PyErr_SetString(PyExc_ValueError, "axes must be a list of lists, one an input");
            return NULL;
        }
        for (Py_ssize_t k = 0; k < n; k++) {
            PyObject *name = PyList_GetItem(row, k);
            if (name != Py_None && (names[i][k] = PyUnicode_AsUTF8AndSize(name, NULL)) == NULL) return NULL;
        }
    }
    return rows;
}

typedef struct {
    PyObject *path, *function, *inputs, *names, *tensors, *key, *outputs, *others, *axes;
    sp_file_options options;
    int opset;
    unsigned flags;
    unsigned long long most;
    const char *form;
} save_args;

/* The same function with other sizes, a list; at most 8. */
static bool others_of(PyObject *list, sp_model_names *all, sp_function **others)
{
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    if (n < 0 || n > 8) return PyErr_SetString(PyExc_ValueError, "others must be a list of at most 8 functions"), false;
    for (Py_ssize_t i = 0; i < n; i++)
        if ((others[i] = PyCapsule_GetPointer(PyList_GetItem(list, i), "spore.function")) == NULL) return false;
    if (n == 0) return true;
    all->other = others[0];
    all->n_more = (int)n - 1;
    all->more = others + 1;
    return true;
}

static PyObject *save(save_args *a)
{
    char *bytes = NULL;
    Py_ssize_t n = 0;
    sp_py_list list = {NULL, NULL, 0};
    void *axes_block = NULL;
    PyObject *result = NULL;
    sp_function *others[8];
    sp_model_names all = {
        .n_inputs = (int)PyList_Size(a->inputs), .opset = a->opset, .flags = a->flags, .form = a->form};
    sp_function *f = PyCapsule_GetPointer(a->function, "spore.function");
    if (f == NULL || (a->key != Py_None && PyBytes_AsStringAndSize(a->key, &bytes, &n) != 0) ||
        (all.inputs = texts_of(a->inputs)) == NULL || (all.parameter_names = texts_of(a->names)) == NULL ||
        sp__py_list_read(a->tensors, "tensors", false, &list) < 0)
        goto done;
    if (a->outputs != Py_None && (!PyList_Check(a->outputs) || (all.outputs = texts_of(a->outputs)) == NULL)) goto done;
    if (a->others != Py_None && !others_of(a->others, &all, others)) goto done;
    if (a->axes != Py_None && (all.axes = axes_of(a->axes, all.n_inputs, &axes_block)) == NULL) goto done;
    all.n_outputs = a->outputs != Py_None ? (int)PyList_Size(a->outputs) : 0;
    all.n_parameters = (int)list.n;
    all.parameters = list.v;
    a->options.key = bytes;
    a->options.key_bytes = (size_t)n;
    a->options.shard_bytes = a->most;
    if (PyList_Size(a->names) != list.n) PyErr_SetString(PyExc_ValueError, "names and tensors must be equally many");
    else {
        sp_status status = sp_model_save(PyBytes_AsString(a->path), f, &all, &a->options);
        result = status == SP_OK ? Py_NewRef(Py_None) : sp__py_fail(status);
    }
done:
    if (list.fast) sp__py_list_free(&list);
    PyMem_Free((void *)all.inputs);
    PyMem_Free((void *)all.parameter_names);
    PyMem_Free((void *)all.outputs);
    PyMem_Free(axes_block);
    return result;
}

static PyObject *model_save(PyObject *module, PyObject *args, PyObject *named)
{
    (void)module;
    static char *keywords[] = {"path",   "function", "inputs", "names", "parameters", "key",    "mode", "outputs",
                               "others", "axes",     "opset",  "flags", "most_bytes", "format", "form", NULL};
    save_args a = {.key = Py_None, .outputs = Py_None, .others = Py_None, .axes = Py_None};
    if (!PyArg_ParseTupleAndKeywords(args, named, "O&OO!O!O|OzOOOiIKzz:model_save", keywords, PyUnicode_FSConverter,
                                     &a.path, &a.function, &PyList_Type, &a.inputs, &PyList_Type, &a.names, &a.tensors,
                                     &a.key, &a.options.key_mode, &a.outputs, &a.others, &a.axes, &a.opset, &a.flags,
                                     &a.most, &a.options.format, &a.form))
        return NULL;
    PyObject *result = save(&a);
    Py_DECREF(a.path);
    return result;
}

static PyObject *file_encrypt(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *from = NULL, *to = NULL;
    Py_ssize_t n;
    const char *key;
    sp_file_options options = {0};
    if (!PyArg_ParseTuple(args, "O&O&y#s:file_encrypt", PyUnicode_FSConverter, &from, PyUnicode_FSConverter, &to, &key,
                          &n, &options.key_mode))
        return NULL;
    options.key = key;
    options.key_bytes = (size_t)n;
    sp_status status = sp_file_encrypt(PyBytes_AsString(from), PyBytes_AsString(to), &options);
    Py_DECREF(from);
    Py_DECREF(to);
    return status == SP_OK ? Py_NewRef(Py_None) : sp__py_fail(status);
}

/* Models of a list; NULL with an exception where one is none. Freed with PyMem_Free. */
static sp_model **models_of(PyObject *list)
{
    const Py_ssize_t n = PyList_Size(list);
    sp_model **out = PyMem_Malloc(((size_t)n + 1) * sizeof *out);
    if (out == NULL) return (sp_model **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *m = PyList_GetItem(list, i);
        if (PyObject_TypeCheck(m, model_type)) {
            out[i] = ((py_model *)m)->model;
            continue;
        }
        PyErr_SetString(PyExc_TypeError, "models must be a list of Model");
        PyMem_Free(out);
        return NULL;
    }
    return out;
}

static PyObject *codegen(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *models, *names, *folder, *train, *result = NULL;
    sp_codegen_options options = {.struct_size = sizeof options};
    unsigned long long ram, flash;
    char *report;
    if (!PyArg_ParseTuple(args, "O!O!O&sO!zzKK:codegen", &PyList_Type, &models, &PyList_Type, &names,
                          PyUnicode_FSConverter, &folder, &options.target, &PyList_Type, &train, &options.optimizer,
                          &options.loss, &ram, &flash))
        return NULL;
    options.ram_bytes = ram;
    options.flash_bytes = flash;
    sp_model **all = models_of(models);
    const char *const *prefixes = all != NULL ? texts_of(names) : NULL, *const *trained =
                                                                            prefixes != NULL ? texts_of(train) : NULL;
    if (trained != NULL && PyList_Size(names) != PyList_Size(models))
        PyErr_SetString(PyExc_ValueError, "models and names must be equally many");
    else if (trained != NULL) {
        options.n_train = (int)PyList_Size(train);
        options.train = trained;
        const sp_status status =
            sp_codegen_write((int)PyList_Size(models), all, prefixes, PyBytes_AsString(folder), &options, &report);
        if (status == SP_OK) {
            result = PyUnicode_FromString(report);
            sp_text_free(report);
        } else sp__py_fail(status);
    }
    PyMem_Free(all);
    PyMem_Free((void *)prefixes);
    PyMem_Free((void *)trained);
    Py_DECREF(folder);
    return result;
}

static PyMethodDef functions[] = {
    {"codegen", codegen, METH_VARARGS,
     "codegen(models, names, folder, target, train, optimizer, loss, ram, flash): the report."},
    {"model_save", (PyCFunction)(void (*)(void))model_save, METH_VARARGS | METH_KEYWORDS,
     "model_save(path, function, inputs, names, parameters, key=None, mode=None, outputs=None, others=None, axes=None, opset=0, flags=0, "
     "most_bytes=0, format=None, form=None): write MindIR, or ONNX when the path ends so."},
    {"file_encrypt", file_encrypt, METH_VARARGS, "file_encrypt(from, to, key, mode): any file as an encrypted one."},
    {"model_load", model_load, METH_VARARGS,
     "model_load(path, format=None, key=None, mode=None): a Model; format None: by the contents."},
    {"model_load_memory", model_load_memory, METH_VARARGS,
     "model_load_memory(bytes, format=None): the same from memory."},
    {NULL, NULL, 0, NULL},
};

sp_model *sp__py_model(PyObject *o)
{
    if (Py_TYPE(o) == model_type) return ((py_model *)o)->model;
    PyErr_SetString(PyExc_TypeError, "a Model is wanted, as model_load gives");
    return NULL;
}

int sp__py_add_model(PyObject *module)
{
    model_type = (PyTypeObject *)PyType_FromSpec(&model_spec);
    if (model_type == NULL || PyModule_AddObjectRef(module, "Model", (PyObject *)model_type) != 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
