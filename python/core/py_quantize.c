/* SPDX-License-Identifier: Apache-2.0 */
/* py_quantize.c - models made to compute with small integers, for the Python package. */
#include "core.h"
#include "py_lists.h"

#include "spore/quantize.h"

typedef struct py_quantized {
    PyObject_HEAD sp_quantized *q;
} py_quantized;

static PyTypeObject *quantized_type;

static void quantized_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    sp_quantized_release(((py_quantized *)self)->q);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *quantized_save(PyObject *self, PyObject *args)
{
    PyObject *path_object = NULL;
    int opset = 0;
    if (!PyArg_ParseTuple(args, "O&|i:save", PyUnicode_FSConverter, &path_object, &opset)) return NULL;
    sp_status status;
    const char *path = PyBytes_AsString(path_object);
    Py_BEGIN_ALLOW_THREADS status = sp_quantized_save(((py_quantized *)self)->q, path, opset, NULL);
    Py_END_ALLOW_THREADS Py_DECREF(path_object);
    if (status != SP_OK) return sp__py_fail(status);
    Py_RETURN_NONE;
}

static PyObject *quantized_report(PyObject *self, PyObject *args)
{
    int json = 0;
    char *text;
    if (!PyArg_ParseTuple(args, "|p:report", &json)) return NULL;
    SP_PY_TRY(sp_quantized_report(((py_quantized *)self)->q, json, &text));
    PyObject *o = PyUnicode_FromString(text);
    sp_text_free(text);
    return o;
}

static PyMethodDef quantized_methods[] = {
    {"save", quantized_save, METH_VARARGS, "save(path, opset=0): write it, as .onnx or .mindir."},
    {"report", quantized_report, METH_VARARGS, "report(json=False): what became of each layer, as text."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot quantized_slots[] = {
    {Py_tp_dealloc, quantized_dealloc},
    {Py_tp_methods, quantized_methods},
    {Py_tp_doc, "A network that computes with small integers."},
    {0, NULL},
};
static PyType_Spec quantized_spec = {.name = "spore._core.Quantized",
                                     .basicsize = sizeof(py_quantized),
                                     .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     .slots = quantized_slots};

/* --- samples ----------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject *give; /* give(i): None, or (list of Tensors, Tensor or None) */
    int n_inputs;
    PyObject *raised[3]; /* an exception that it ended with */
} source;

static sp_status take_sample(source *s, PyObject *answer, sp_tensor **in, sp_tensor **label, bool *done)
{
    sp_py_list list = {0};
    *done = answer == Py_None;
    if (*done) return SP_OK;
    PyObject *row = PyTuple_GetItem(answer, 0), *of = row != NULL ? PyTuple_GetItem(answer, 1) : NULL;
    if (of == NULL || sp__py_list_read(row, "inputs", false, &list) != 0) return SP_RUNTIME;
    sp_status status = list.n == s->n_inputs
                           ? SP_OK
                           : sp__fail(SP_VALUE, "a sample has %zd inputs, the model takes %d", list.n, s->n_inputs);
    for (Py_ssize_t i = 0; i < list.n && status == SP_OK; i++) in[i] = sp_tensor_retain(list.v[i]);
    sp__py_list_free(&list);
    if (status != SP_OK || of == Py_None || label == NULL) return status;
    sp_tensor *t = sp__py_value(of);
    if (t == NULL) return SP_RUNTIME;
    *label = sp_tensor_retain(t);
    return SP_OK;
}

static sp_status sample(void *context, int64_t i, sp_tensor **in, sp_tensor **label, bool *done)
{
    source *s = context;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *answer = PyObject_CallFunction(s->give, "L", (long long)i);
    sp_status status = answer != NULL ? take_sample(s, answer, in, label, done) : SP_RUNTIME;
    Py_XDECREF(answer);
    if (PyErr_Occurred() != NULL) {
        PyErr_Fetch(&s->raised[0], &s->raised[1], &s->raised[2]);
        status = sp__fail(SP_RUNTIME, "the data raised an exception");
    }
    PyGILState_Release(state);
    return status;
}

static PyObject *quantize(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *model, *give;
    source s = {0};
    int per_tensor, symmetric, corrected, equalize, integer_only;
    sp_quant_options o = {.struct_size = sizeof o};
    long long effects;
    if (!PyArg_ParseTuple(args, "OO(siiippssdppzzpL):quantize", &model, &give, &o.kind, &o.weight_bits,
                          &o.activation_bits, &o.block, &per_tensor, &symmetric, &o.method, &o.rounding, &o.percentile,
                          &corrected, &equalize, &o.keep, &o.target, &integer_only, &effects))
        return NULL;
    sp_model *m = sp__py_model(model);
    if (m == NULL) return NULL;
    o.per_tensor = per_tensor;
    o.symmetric = symmetric;
    o.no_bias_correction = !corrected;
    o.equalize = equalize;
    o.integer_only = integer_only;
    o.effect_samples = effects;
    s.give = give;
    s.n_inputs = sp_model_inputs(m);
    const sp_quant_data data = {.sample = sample, .context = &s};
    sp_quantized *q = NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_model_quantize(m, give != Py_None ? &data : NULL, &o, &q);
    Py_END_ALLOW_THREADS if (s.raised[0] != NULL)
    {
        sp_quantized_release(q);
        PyErr_Restore(s.raised[0], s.raised[1], s.raised[2]);
        return NULL;
    }
    if (status != SP_OK) return sp__py_fail(status);
    py_quantized *self = (py_quantized *)PyType_GenericAlloc(quantized_type, 0);
    if (self == NULL) sp_quantized_release(q);
    else self->q = q;
    return (PyObject *)self;
}

static PyMethodDef functions[] = {
    {"quantize", quantize, METH_VARARGS,
     "quantize(model, give, options): a Quantized; give(i) tells sample i, options are those of sp_quant_options in order."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_quantize(PyObject *module)
{
    quantized_type = (PyTypeObject *)PyType_FromSpec(&quantized_spec);
    if (quantized_type == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
