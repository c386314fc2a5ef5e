/* SPDX-License-Identifier: Apache-2.0 */
/* py_record.c - MindRecord files for the Python package: _core.RecordReader and _core.RecordWriter.
 *
 * A row is a dict from column names to int, float, str, bytes and numpy arrays. Types are exact, as in MindSpore: an int
 * is not taken for a float column, a bool for nothing, an array only with the dtype of its column. The package turns the
 * exceptions raised here into MindSpore's. */
#include "core.h"

#include "spore/record.h"

/* --- shared ---------------------------------------------------------------------------------------------------------------- */

/* Text that must outlive a call: strings a secret points to. */
typedef struct secret_text {
    PyObject *key, *mode, *hash; /* borrowed from the arguments */
    sp_record_secret secret;
} secret_text;

static int fill_secret(secret_text *s)
{
    if (s->key != NULL && s->key != Py_None) {
        char *key;
        Py_ssize_t bytes;
        if (PyBytes_AsStringAndSize(s->key, &key, &bytes) != 0) return -1;
        s->secret.key = key;
        s->secret.key_bytes = (size_t)bytes;
    }
    if (s->mode != NULL && s->mode != Py_None && (s->secret.mode = PyUnicode_AsUTF8AndSize(s->mode, NULL)) == NULL)
        return -1;
    if (s->hash != NULL && s->hash != Py_None && (s->secret.hash = PyUnicode_AsUTF8AndSize(s->hash, NULL)) == NULL)
        return -1;
    return 0;
}

/* numpy's dtype object of a type, borrowed. */
static PyObject *numpy_dtype(sp_record_type type)
{
    static PyObject *kept[SP_RECORD_TYPE_COUNT];
    if (kept[type] == NULL) {
        PyObject *make = sp__py_numpy("dtype");
        kept[type] = make == NULL ? NULL : PyObject_CallFunction(make, "s", sp_record_type_name(type));
    }
    return kept[type];
}

static PyObject *shape_object(int rank, const int64_t *dims)
{
    PyObject *shape = PyTuple_New(rank);
    for (int i = 0; shape != NULL && i < rank; i++) {
        PyObject *dim = PyLong_FromLongLong(dims[i]);
        if (dim == NULL || PyTuple_SetItem(shape, i, dim) != 0) Py_CLEAR(shape);
    }
    return shape;
}

/* (name, type, shape or None) */
static PyObject *field_object(const sp_record_field *f)
{
    PyObject *shape = f->rank < 0 ? Py_NewRef(Py_None) : shape_object(f->rank, f->dims);
    return shape == NULL ? NULL : Py_BuildValue("(ssN)", f->name, sp_record_type_name(f->type), shape);
}

static PyObject *make_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type != NULL && PyModule_AddObjectRef(module, name, type) != 0) Py_CLEAR(type);
    return type;
}

/* --- reading ---------------------------------------------------------------------------------------------------------------- */

typedef struct reader {
    PyObject_HEAD sp_record *record;
    sp_record_row *row;
    PyObject **names;  /* of the columns, in the order of the dict */
    PyObject **shapes; /* of arrays whose shape is always the same, else NULL */
    int n_columns;
} reader;

static PyTypeObject *reader_type;

static void reader_dealloc(PyObject *o)
{
    reader *self = (reader *)o;
    PyTypeObject *type = Py_TYPE(o);
    for (int i = 0; i < self->n_columns; i++) {
        if (self->names != NULL) Py_XDECREF(self->names[i]);
        if (self->shapes != NULL) Py_XDECREF(self->shapes[i]);
    }
    PyMem_Free(self->names);
    PyMem_Free(self->shapes);
    sp_record_row_release(self->row);
    sp_record_release(self->record);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(o);
    Py_DECREF(type);
}

static bool is_blob(const sp_record_field *f) { return f->rank >= 0 || f->type == SP_RECORD_BYTES; }

static bool is_wanted(PyObject *columns, const char *name)
{
    if (columns == Py_None) return true;
    PyObject *text = PyUnicode_FromString(name);
    int found = text == NULL ? -1 : PySequence_Contains(columns, text);
    Py_XDECREF(text);
    if (found < 0) PyErr_Clear();
    return found == 1;
}

static int keep_column(reader *self, const sp_record_field *f, const char **names)
{
    int i = self->n_columns;
    names[i] = f->name;
    self->names[i] = PyUnicode_InternFromString(f->name);
    if (self->names[i] == NULL) return -1;
    self->n_columns++;
    bool fixed = f->rank >= 0;
    for (int k = 0; k < f->rank; k++) fixed = fixed && f->dims[k] > 0;
    if (fixed) self->shapes[i] = shape_object(f->rank, f->dims);
    return PyErr_Occurred() ? -1 : 0;
}

/* Columns in the order of MindSpore's dicts: numbers and strings, then the rest, each alphabetical. */
static int choose_columns(reader *self, PyObject *columns)
{
    int n = sp_record_field_count(self->record);
    const char **names = PyMem_Calloc((size_t)n, sizeof *names);
    self->names = PyMem_Calloc((size_t)n, sizeof *self->names);
    self->shapes = PyMem_Calloc((size_t)n, sizeof *self->shapes);
    if (names == NULL || self->names == NULL || self->shapes == NULL) {
        PyMem_Free(names);
        sp__py_no_memory();
        return -1;
    }
    int failed = 0;
    for (int pass = 0; pass < 2 && !failed; pass++)
        for (int i = 0; i < n && !failed; i++) {
            const sp_record_field *f = sp_record_field_at(self->record, i);
            if (is_blob(f) == (pass == 1) && is_wanted(columns, f->name)) failed = keep_column(self, f, names);
        }
    if (!failed) {
        sp_status status = sp_record_row_create(self->record, names, self->n_columns, &self->row);
        if (status != SP_OK) sp__py_fail(status);
        failed = status != SP_OK;
    }
    PyMem_Free(names);
    return failed ? -1 : 0;
}

static int check_columns(const reader *self, PyObject *columns)
{
    for (Py_ssize_t i = 0; columns != Py_None && i < PyList_Size(columns); i++) {
        PyObject *column = PyList_GetItem(columns, i);
        const char *name = PyUnicode_Check(column) ? PyUnicode_AsUTF8AndSize(column, NULL) : NULL;
        if (name != NULL && sp_record_field_find(self->record, name) >= 0) continue;
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_KeyError, "Invalid data, column name: %S can not found in schema: there is no column %R",
                         column, column);
        return -1;
    }
    return 0;
}

static sp_status open_paths(PyObject *paths, bool whole, const sp_record_secret *secret, sp_record **out)
{
    Py_ssize_t n = PyList_Size(paths);
    const char **names = PyMem_Calloc((size_t)n + 1, sizeof *names);
    if (names == NULL) return SP_NOMEM;
    for (Py_ssize_t i = 0; i < n; i++) names[i] = PyBytes_AsString(PyList_GetItem(paths, i));
    sp_status status = SP_TYPE;
    if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS status =
            whole ? sp_record_open(names[0], secret, out) : sp_record_open_files(names, (int)n, secret, out);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(names);
    return status;
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *paths, *columns;
    int whole;
    secret_text s = {NULL, NULL, NULL, {0}};
    if (!PyArg_ParseTuple(args, "O!pOOOO:RecordReader", &PyList_Type, &paths, &whole, &columns, &s.key, &s.mode,
                          &s.hash))
        return NULL;
    if (columns != Py_None && !PyList_Check(columns))
        return PyErr_Format(PyExc_TypeError, "columns must be a list or None");
    if (fill_secret(&s) != 0) return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *o = alloc(type, 0);
    if (o == NULL) return NULL;
    reader *self = (reader *)o;
    sp_status status = open_paths(paths, whole, &s.secret, &self->record);
    if (status != SP_OK) sp__py_fail(status);
    if (status != SP_OK || check_columns(self, columns) != 0 || choose_columns(self, columns) != 0) {
        Py_DECREF(o);
        return NULL;
    }
    return o;
}

static PyObject *array_object(const reader *self, int i, const sp_record_value *v)
{
    PyObject *make = sp__py_numpy("ndarray"), *dtype = numpy_dtype(v->type);
    PyObject *shape =
        self->shapes[i] != NULL && v->bytes > 0 ? Py_NewRef(self->shapes[i]) : shape_object(v->rank, v->dims);
    PyObject *bytes = PyBytes_FromStringAndSize(v->data, (Py_ssize_t)v->bytes);
    PyObject *array = NULL;
    if (make != NULL && dtype != NULL && shape != NULL && bytes != NULL)
        array = PyObject_CallFunctionObjArgs(make, shape, dtype, bytes, NULL);
    Py_XDECREF(shape);
    Py_XDECREF(bytes);
    return array;
}

static PyObject *value_object(const reader *self, int i, const sp_record_value *v)
{
    if (v->rank >= 0) return array_object(self, i, v);
    switch (v->type) {
    case SP_RECORD_INT32:
    case SP_RECORD_INT64: return PyLong_FromLongLong(v->i);
    case SP_RECORD_FLOAT32:
    case SP_RECORD_FLOAT64: return PyFloat_FromDouble(v->f);
    case SP_RECORD_STRING: return PyUnicode_DecodeUTF8(v->data, (Py_ssize_t)v->bytes, "surrogateescape");
    default: return PyBytes_FromStringAndSize(v->data, (Py_ssize_t)v->bytes);
    }
}

static PyObject *reader_item(PyObject *o, Py_ssize_t id)
{
    reader *self = (reader *)o;
    SP_PY_TRY(sp_record_read(self->record, id, self->row));
    const sp_record_value *values = sp_record_row_values(self->row);
    PyObject *row = PyDict_New();
    for (int i = 0; row != NULL && i < self->n_columns; i++) {
        PyObject *value = value_object(self, i, &values[i]);
        if (value == NULL || PyDict_SetItem(row, self->names[i], value) != 0) Py_CLEAR(row);
        Py_XDECREF(value);
    }
    return row;
}

sp_record *sp__py_record(PyObject *o)
{
    if (reader_type == NULL || !PyObject_TypeCheck(o, reader_type)) {
        PyErr_Format(PyExc_TypeError, "a RecordReader is wanted, but got %s", sp__py_type_name(o));
        return NULL;
    }
    return ((reader *)o)->record;
}

static Py_ssize_t reader_length(PyObject *o) { return (Py_ssize_t)sp_record_count(((reader *)o)->record); }

static PyObject *reader_fields(PyObject *o, PyObject *unused)
{
    (void)unused;
    const sp_record *record = ((reader *)o)->record;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < sp_record_field_count(record); i++) {
        PyObject *field = field_object(sp_record_field_at(record, i));
        if (field == NULL || PyList_Append(list, field) != 0) Py_CLEAR(list);
        Py_XDECREF(field);
    }
    return list;
}

static PyObject *reader_index_fields(PyObject *o, PyObject *unused)
{
    (void)unused;
    const sp_record *record = ((reader *)o)->record;
    sp_record_info info;
    sp_record_describe(record, &info);
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < info.n_index; i++) {
        PyObject *name = PyUnicode_FromString(sp_record_field_at(record, sp_record_index_at(record, i))->name);
        if (name == NULL || PyList_Append(list, name) != 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyMethodDef reader_methods[] = {
    {"fields", reader_fields, METH_NOARGS, "fields(): (name, type, shape or None) of every field."},
    {"index_fields", reader_index_fields, METH_NOARGS,
     "index_fields(): names of the fields in the index, in its order."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, reader_methods},
    {Py_sq_item, reader_item},
    {Py_sq_length, reader_length},
    {Py_tp_doc,
     "RecordReader(paths, whole, columns, key, mode, hash): rows of MindRecord files as dicts, by number. paths: "
     "list of bytes; whole: of the data set that the first belongs to."},
    {0, NULL},
};

static PyType_Spec reader_spec = {"spore._core.RecordReader", sizeof(reader), 0, Py_TPFLAGS_DEFAULT, reader_slots};

/* --- from Python values ------------------------------------------------------------------------------------------------------ */

/* What a value needs while it is used: memory of an array, and the array when it had to be copied. */
typedef struct hold {
    Py_buffer view;
    bool has_view;
    PyObject *copy;
} hold;

static void let_go(hold *h)
{
    if (h->has_view) PyBuffer_Release(&h->view);
    Py_XDECREF(h->copy);
    h->has_view = false;
    h->copy = NULL;
}

static bool is_integer(sp_record_type t) { return t == SP_RECORD_INT32 || t == SP_RECORD_INT64; }
static bool is_float(sp_record_type t) { return t == SP_RECORD_FLOAT32 || t == SP_RECORD_FLOAT64; }

/* A mismatch: row, column, what was found, what is declared. */
static int mismatch(const sp_record_field *f, Py_ssize_t row, PyObject *value)
{
    PyObject *declared_shape = f->rank >= 0 ? shape_object(f->rank, f->dims) : NULL;
    PyObject *found = NULL;
    if (sp__py_is_array(value)) {
        PyObject *dtype = PyObject_GetAttrString(value, "dtype"), *shape = PyObject_GetAttrString(value, "shape");
        if (dtype != NULL && shape != NULL) found = PyUnicode_FromFormat("an array of %S with shape %S", dtype, shape);
        Py_XDECREF(dtype);
        Py_XDECREF(shape);
    } else {
        found = PyUnicode_FromString(sp__py_type_name(value));
    }
    if (found != NULL && !PyErr_Occurred()) {
        if (declared_shape != NULL)
            PyErr_Format(PyExc_TypeError, "row %zd, column '%s': found %U, declared is an array of %s with shape %S",
                         row, f->name, found, sp_record_type_name(f->type), declared_shape);
        else
            PyErr_Format(PyExc_TypeError, "row %zd, column '%s': found %U, declared is %s", row, f->name, found,
                         sp_record_type_name(f->type));
    }
    Py_XDECREF(declared_shape);
    Py_XDECREF(found);
    return -1;
}

/* The type of the elements by the letter of the buffer protocol; COUNT: none of ours. */
static sp_record_type element_type(const Py_buffer *view)
{
    const char *format = view->format != NULL ? view->format : "B";
    if (format[0] == '<' || format[0] == '=' || format[0] == '@') format++;
    bool integer = strchr("ilq", format[0]) != NULL && format[0] != '\0', real = format[0] == 'f' || format[0] == 'd';
    if (format[0] == '\0' || format[1] != '\0' || (!integer && !real)) return SP_RECORD_TYPE_COUNT;
    if (view->itemsize == 4) return integer ? SP_RECORD_INT32 : SP_RECORD_FLOAT32;
    return integer ? SP_RECORD_INT64 : SP_RECORD_FLOAT64;
}

static int get_array(const sp_record_field *f, Py_ssize_t row, PyObject *value, sp_record_value *out, int64_t *dims,
                     hold *h)
{
    if (!sp__py_is_array(value)) return mismatch(f, row, value);
    if (PyObject_GetBuffer(value, &h->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear(); /* strided, or a dtype without a buffer format: a copy tells which */
        PyObject *make = sp__py_numpy("ascontiguousarray");
        h->copy = make == NULL ? NULL : PyObject_CallFunctionObjArgs(make, value, NULL);
        if (h->copy == NULL) return -1;
        if (PyObject_GetBuffer(h->copy, &h->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
            PyErr_Clear();
            return mismatch(f, row, value);
        }
    }
    h->has_view = true;
    if (element_type(&h->view) != f->type || h->view.ndim > SP_RANK_MAX) return mismatch(f, row, value);
    for (int i = 0; i < h->view.ndim; i++) dims[i] = h->view.shape[i];
    *out = (sp_record_value){
        .type = f->type, .rank = h->view.ndim, .dims = dims, .data = h->view.buf, .bytes = (size_t)h->view.len};
    return 0;
}

/* numpy's number of exactly that type. */
static bool is_numpy_number(PyObject *value, sp_record_type type)
{
    static PyObject *kept[SP_RECORD_TYPE_COUNT];
    if (kept[type] == NULL) kept[type] = sp__py_numpy(sp_record_type_name(type));
    if (kept[type] == NULL) PyErr_Clear();
    return (PyObject *)Py_TYPE(value) == kept[type];
}

static int get_number(const sp_record_field *f, Py_ssize_t row, PyObject *value, sp_record_value *out)
{
    if (is_float(f->type)) {
        if (!PyFloat_CheckExact(value) && !is_numpy_number(value, f->type)) return mismatch(f, row, value);
        out->f = PyFloat_AsDouble(value);
        return 0;
    }
    if (PyLong_CheckExact(value)) {
        out->i = PyLong_AsLongLong(value);
    } else {
        PyObject *number = is_numpy_number(value, f->type) ? PyNumber_Index(value) : NULL;
        if (number == NULL) return PyErr_Occurred() ? -1 : mismatch(f, row, value);
        out->i = PyLong_AsLongLong(number);
        Py_DECREF(number);
    }
    if (out->i != -1 || !PyErr_Occurred()) return 0;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "row %zd, column '%s': found %R, declared is %s, which cannot hold it", row, f->name,
                 value, sp_record_type_name(f->type));
    return -1;
}

static int get_value(const sp_record_field *f, Py_ssize_t row, PyObject *value, sp_record_value *out, int64_t *dims,
                     hold *h)
{
    if (f->rank >= 0) return get_array(f, row, value, out, dims, h);
    out->type = f->type;
    out->rank = -1;
    if (is_integer(f->type) || is_float(f->type)) return get_number(f, row, value, out);
    Py_ssize_t bytes = 0;
    if (f->type == SP_RECORD_STRING) {
        if (!PyUnicode_CheckExact(value)) return mismatch(f, row, value);
        out->data = PyUnicode_AsUTF8AndSize(value, &bytes);
    } else {
        if (!PyBytes_CheckExact(value)) return mismatch(f, row, value);
        char *data = NULL;
        if (PyBytes_AsStringAndSize(value, &data, &bytes) != 0) return -1;
        out->data = data;
    }
    out->bytes = (size_t)bytes;
    if (out->data != NULL) return 0;
    PyErr_Clear(); /* a lone surrogate */
    PyErr_Format(PyExc_ValueError, "row %zd, column '%s': found a str that cannot be written as UTF-8", row, f->name);
    return -1;
}

/* --- writing ------------------------------------------------------------------------------------------------------------------ */

typedef struct writer {
    PyObject_HEAD sp_record_writer *writer;
    int n_fields;
    PyObject **names;
    sp_record_value *values;
    int64_t *dims;
    hold *holds;
} writer;

static void writer_dealloc(PyObject *o)
{
    writer *self = (writer *)o;
    PyTypeObject *type = Py_TYPE(o);
    for (int i = 0; i < self->n_fields && self->names != NULL; i++) Py_XDECREF(self->names[i]);
    PyMem_Free(self->names);
    PyMem_Free(self->values);
    PyMem_Free(self->dims);
    PyMem_Free(self->holds);
    sp_record_writer_release(self->writer);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(o);
    Py_DECREF(type);
}

/* Around an open writer, whose reference is taken over. */
static PyObject *writer_object(PyTypeObject *type, sp_record_writer *take_writer)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    writer *self = (writer *)alloc(type, 0);
    if (self == NULL) {
        sp_record_writer_release(take_writer);
        return NULL;
    }
    self->writer = take_writer;
    size_t n = (size_t)sp_record_writer_field_count(take_writer);
    self->names = PyMem_Calloc(n, sizeof *self->names);
    self->values = PyMem_Calloc(n, sizeof *self->values);
    self->dims = PyMem_Calloc(n * SP_RANK_MAX, sizeof *self->dims);
    self->holds = PyMem_Calloc(n, sizeof *self->holds);
    if (self->names == NULL || self->values == NULL || self->dims == NULL || self->holds == NULL) sp__py_no_memory();
    self->n_fields = (int)n;
    for (int i = 0; i < self->n_fields && !PyErr_Occurred(); i++)
        self->names[i] = PyUnicode_InternFromString(sp_record_writer_field_at(take_writer, i)->name);
    if (!PyErr_Occurred()) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

static int parse_field(PyObject *entry, sp_record_field *out)
{
    const char *type;
    PyObject *shape;
    if (!PyArg_ParseTuple(entry, "ssO", &out->name, &type, &shape)) return -1;
    sp_status status = sp_record_type_parse(type, &out->type);
    if (status != SP_OK) {
        sp__py_fail(status);
        return -1;
    }
    out->rank = -1;
    if (shape == Py_None) return 0;
    out->rank = sp__py_ints(shape, out->dims, SP_RANK_MAX, "shape");
    return out->rank < 0 ? -1 : 0;
}

/* UTF-8 of every str in a list, borrowed from it; NULL with an exception. PyMem_Free the result. */
static const char **list_texts(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    const char **texts = PyMem_Calloc((size_t)n + 1, sizeof *texts);
    if (texts == NULL) sp__py_no_memory();
    for (Py_ssize_t i = 0; texts != NULL && i < n; i++) {
        texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (texts[i] != NULL) continue;
        PyMem_Free(texts);
        return NULL;
    }
    return texts;
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *path, *fields, *index;
    sp_record_plan plan = {0};
    secret_text s = {NULL, NULL, NULL, {0}};
    int overwrite, separate;
    unsigned long long header, page;
    if (!PyArg_ParseTuple(args, "SO!sippKKO!OOO:RecordWriter", &path, &PyList_Type, &fields, &plan.description,
                          &plan.n_shards, &overwrite, &separate, &header, &page, &PyList_Type, &index, &s.key, &s.mode,
                          &s.hash))
        return NULL;
    Py_ssize_t n = PyList_Size(fields);
    sp_record_field *array = PyMem_Calloc((size_t)n + 1, sizeof *array);
    const char **names = array == NULL ? NULL : list_texts(index);
    sp_record_writer *made = NULL;
    sp_status status = SP_OK;
    bool ready = names != NULL && fill_secret(&s) == 0;
    for (Py_ssize_t i = 0; ready && i < n; i++) ready = parse_field(PyList_GetItem(fields, i), &array[i]) == 0;
    if (ready) {
        plan.overwrite = overwrite;
        plan.separate = separate;
        plan.header_bytes = header;
        plan.page_bytes = page;
        plan.index = names;
        plan.n_index = (int)PyList_Size(index);
        plan.secret = &s.secret;
        status = sp_record_create(PyBytes_AsString(path), array, (int)n, &plan, &made);
        if (status != SP_OK) sp__py_fail(status);
    }
    PyMem_Free(array);
    PyMem_Free(names);
    return made == NULL ? NULL : writer_object(type, made);
}

static PyObject *writer_append(PyObject *type, PyObject *args)
{
    PyObject *path;
    secret_text s = {NULL, NULL, NULL, {0}};
    if (!PyArg_ParseTuple(args, "SOOO:append", &path, &s.key, &s.mode, &s.hash) || fill_secret(&s) != 0) return NULL;
    sp_record_writer *made = NULL;
    const char *name = PyBytes_AsString(path);
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_record_append(name, &s.secret, &made);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    return writer_object((PyTypeObject *)type, made);
}

/* Values of one row; everything held must be let go, also after a failure. */
static int get_row(writer *self, PyObject *row, Py_ssize_t number)
{
    for (int i = 0; i < self->n_fields; i++) {
        const sp_record_field *f = sp_record_writer_field_at(self->writer, i);
        PyObject *value = PyDict_GetItemWithError(row, self->names[i]);
        if (value == NULL) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_TypeError, "row %zd, column '%s': found nothing, declared is %s", number, f->name,
                             sp_record_type_name(f->type));
            return -1;
        }
        if (get_value(f, number, value, &self->values[i], self->dims + (Py_ssize_t)i * SP_RANK_MAX, &self->holds[i]) !=
            0)
            return -1;
    }
    return 0;
}

static int visit_row(writer *self, PyObject *row, Py_ssize_t number, bool write)
{
    int failed = get_row(self, row, number);
    if (!failed) {
        sp_status status = write ? sp_record_write(self->writer, self->values)
                                 : sp_record_writer_check(self->writer, self->values, number);
        if (status != SP_OK) sp__py_fail(status);
        failed = status != SP_OK;
    }
    for (int i = 0; i < self->n_fields; i++) let_go(&self->holds[i]);
    return failed ? -1 : 0;
}

static PyObject *writer_write(PyObject *o, PyObject *rows)
{
    writer *self = (writer *)o;
    if (!PyList_Check(rows)) return PyErr_Format(PyExc_TypeError, "rows must be a list");
    Py_ssize_t n = PyList_Size(rows);
    /* All rows are checked before the first is written. */
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) SP_PY_TRY(sp_record_writer_batch(self->writer, n));
        for (Py_ssize_t i = 0; i < n && i < PyList_Size(rows); i++) {
            PyObject *row = PyList_GetItem(rows, i);
            if (!PyDict_Check(row))
                return PyErr_Format(PyExc_TypeError, "row %zd: found %s, a dict is wanted", i, sp__py_type_name(row));
            if (visit_row(self, row, i, pass == 1) != 0) return NULL;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *writer_commit(PyObject *o, PyObject *unused)
{
    (void)unused;
    sp_record_writer *w = ((writer *)o)->writer;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_record_commit(w);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *writer_fields(PyObject *o, PyObject *unused)
{
    (void)unused;
    const writer *self = (writer *)o;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < self->n_fields; i++) {
        PyObject *field = field_object(sp_record_writer_field_at(self->writer, i));
        if (field == NULL || PyList_Append(list, field) != 0) Py_CLEAR(list);
        Py_XDECREF(field);
    }
    return list;
}

static PyMethodDef writer_methods[] = {
    {"append", writer_append, METH_VARARGS | METH_CLASS,
     "append(path, key, mode, hash): a writer that adds to a data set."},
    {"write", writer_write, METH_O, "write(rows): check a list of dicts, then write them, spread over the shards."},
    {"commit", writer_commit, METH_NOARGS, "commit(): complete the files and their index and give them their names."},
    {"fields", writer_fields, METH_NOARGS, "fields(): (name, type, shape or None) of every field."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, writer_methods},
    {Py_tp_doc,
     "RecordWriter(path, fields, description, shards, overwrite, separate, header_bytes, page_bytes, index, key, "
     "mode, hash): new MindRecord files; nothing is seen of them before commit()."},
    {0, NULL},
};

static PyType_Spec writer_spec = {"spore._core.RecordWriter", sizeof(writer), 0, Py_TPFLAGS_DEFAULT, writer_slots};

int sp__py_add_record(PyObject *module)
{
    reader_type = (PyTypeObject *)make_type(module, "RecordReader", &reader_spec);
    PyObject *writer_type = reader_type == NULL ? NULL : make_type(module, "RecordWriter", &writer_spec);
    Py_XDECREF(writer_type);
    return writer_type == NULL ? -1 : 0;
}
