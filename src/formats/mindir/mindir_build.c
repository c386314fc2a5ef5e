/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_build.c - recorded functions as MindIR, in the form MindSpore 2.10 writes.
 *
 * A function of the graph is a function of the model; outer values are used by name, as there. A node with one result is called
 * after its value; of several results the node is a tuple, and TupleGetItem nodes name them. Most operators differ from
 * MindSpore's primitives only in how arguments are passed, so a row of the table is text:
 *     0 1 ..  an operand        *     all operands as a tuple        =F =0   a constant
 *     name    attribute `name` of our operator, as a constant input
 * Operators without attributes that carry a MindIR name need no row. */
#include "formats/mindir/mindir_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/twins.h"
#include "ir/graph_impl.h"

/* --- messages ---------------------------------------------------------------------------------------------------- */

typedef struct {
    sp_wire_out out;
    sp_status status; /* the first failure: out of memory */
} msg;

static void put_number(msg *m, uint32_t field, int64_t v)
{
    if (m->status == SP_OK) m->status = sp__wire_put_number(&m->out, field, (uint64_t)v);
}

static void put_bytes(msg *m, uint32_t field, const void *data, size_t bytes)
{
    if (m->status == SP_OK) m->status = sp__wire_put_head(&m->out, field, bytes);
    if (m->status == SP_OK && bytes) m->status = sp__wire_put(&m->out, data, bytes);
}

static void put_text(msg *m, uint32_t field, const char *s) { put_bytes(m, field, s, strlen(s)); }

static void put_float(msg *m, uint32_t field, float f)
{
    if (m->status == SP_OK) m->status = sp__wire_put_varint(&m->out, field << 3 | SP_WIRE_FIXED32);
    if (m->status == SP_OK) m->status = sp__wire_put(&m->out, &f, sizeof f);
}

/* The message as a field of another one; it is used up. */
static void put_message(msg *m, uint32_t field, msg *inner)
{
    if (m->status == SP_OK) m->status = inner->status;
    if (m->status == SP_OK) put_bytes(m, field, inner->out.data, inner->out.bytes);
    sp__wire_out_free(&inner->out);
    *inner = (msg){.status = SP_OK};
}

/* --- state ------------------------------------------------------------------------------------------------------- */

typedef struct {
    sp_graph *graph;
    sp_function *entry;
    const sp_model_names *names;
    sp__arena arena;
    msg model, primitives, graph_out; /* graph_out: the function being written */
    uint8_t *written;                 /* constants, by id */
    uint8_t *reached;                 /* functions, by id */
    int counter;
    const char *monad;                /* the constant that Load waits for, NULL: none yet */
    struct known { const char *type; char name[64]; struct known *next; } *known;
    sp_function *fn;
    sp_mindir_outside *outside;       /* NULL: weights are in the model itself */
} build;

enum { T_FLOAT = 1, T_INT64 = 7, T_STRING = 8, T_BOOL = 9, T_TENSORS = 19, T_TUPLE = 20, T_UMONAD = 23, T_NONE = 25, T_FUNCTION = 27 };
enum { PRIMITIVE = 1, FUNCTION_PRIMITIVE = 2 };

static int data_type(sp_dtype d)
{
    static const struct { sp_dtype dtype; int number; } known[] = {
        {SP_DTYPE_F32, 1}, {SP_DTYPE_U8, 2}, {SP_DTYPE_I8, 3}, {SP_DTYPE_U16, 4}, {SP_DTYPE_I16, 5}, {SP_DTYPE_I32, 6},
        {SP_DTYPE_I64, 7}, {SP_DTYPE_BOOL, 9}, {SP_DTYPE_F16, 10}, {SP_DTYPE_F64, 11}, {SP_DTYPE_U32, 12}, {SP_DTYPE_U64, 13},
        {SP_DTYPE_C64, 14}, {SP_DTYPE_C128, 15}, {SP_DTYPE_BF16, 16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].dtype == d) return known[i].number;
    return 0;
}

/* MindSpore's own number of a dtype, which operators take as an argument. */
static int type_number(sp_dtype d)
{
    static const struct { sp_dtype dtype; int number; } known[] = {
        {SP_DTYPE_BOOL, 30}, {SP_DTYPE_I8, 32}, {SP_DTYPE_I16, 33}, {SP_DTYPE_I32, 34}, {SP_DTYPE_I64, 35}, {SP_DTYPE_U8, 37},
        {SP_DTYPE_U16, 38}, {SP_DTYPE_U32, 39}, {SP_DTYPE_U64, 40}, {SP_DTYPE_F16, 42}, {SP_DTYPE_F32, 43}, {SP_DTYPE_F64, 44},
        {SP_DTYPE_BF16, 45}, {SP_DTYPE_C64, 48}, {SP_DTYPE_C128, 49}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].dtype == d) return known[i].number;
    return 0;
}

static const char *text(build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *text(build *b, const char *format, ...)
{
    char buffer[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    const char *kept = sp__arena_text(&b->arena, buffer);
    if (!kept) b->model.status = SP_NOMEM;
    return kept ? kept : "";
}

static const char *function_name(build *b, const sp_function *f) { return text(b, "%d_%s", f->id, f->name); }

/* --- types and constants ----------------------------------------------------------------------------------------- */

static void put_tensor_type(msg *m, uint32_t field, const sp_meta *meta, const char *name)
{
    msg t = {.status = SP_OK};
    for (int i = 0; i < meta->rank; i++) put_number(&t, 1, meta->dims[i]);
    if (meta->rank < 0) put_number(&t, 1, -2);
    put_number(&t, 2, data_type(meta->dtype));
    if (name) put_text(&t, 7, name);
    put_message(m, field, &t);
}

static void put_type(msg *m, uint32_t field, const char *name, const sp_value *v)
{
    msg a = {.status = SP_OK};
    if (name) put_text(&a, 1, name);
    put_tensor_type(&a, 12, &v->meta, NULL);
    put_number(&a, 16, T_TENSORS);
    put_message(m, field, &a);
}

/* The type of several values: a tuple. */
static void put_types(msg *m, uint32_t field, const char *name, int n, sp_value *const *v)
{
    msg a = {.status = SP_OK}, info = {.status = SP_OK};
    if (name) put_text(&a, 1, name);
    put_number(&a, 16, T_TUPLE);
    for (int i = 0; i < n; i++) put_type(&a, 17, NULL, v[i]);
    put_number(&info, 1, 0);
    put_message(&a, 18, &info);
    put_message(m, field, &a);
}

enum { ALIGNED = 64 };

/* A weight that lies in a file beside: its place there follows the ones before, at a multiple of 64 behind a record of 64 bytes. */
static void put_outside(msg *m, const char *location, uint64_t *offset, const sp_tensor *t)
{
    msg e = {.status = SP_OK};
    uint64_t bytes = sp_tensor_bytes((sp_tensor *)t);
    put_text(&e, 1, location);
    put_number(&e, 2, (int64_t)*offset);
    put_number(&e, 3, (int64_t)bytes);
    put_message(m, 12, &e);
    *offset = (*offset + bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static void put_weight_outside(build *b, sp_tensor *t, const char *name, const char *ref_key)
{
    msg p = {.status = SP_OK};
    for (int i = 0; i < t->rank; i++) put_number(&p, 1, t->dims[i]);
    put_number(&p, 2, data_type((sp_dtype)t->dtype));
    put_text(&p, 7, name);
    put_outside(&p, b->outside->location, &b->outside->bytes, t);
    put_text(&p, 13, ref_key);
    put_number(&p, 16, 0);
    put_message(&b->graph_out, 3, &p);
    b->outside->tensors[b->outside->n++] = t;
}

static void put_tensor(msg *m, uint32_t field, sp_tensor *t, const char *name, const char *ref_key)
{
    msg p = {.status = SP_OK};
    sp_tensor *plain;
    m->status = m->status == SP_OK ? sp_tensor_contiguous(t, &plain) : m->status;
    if (m->status != SP_OK) return;
    for (int i = 0; i < plain->rank; i++) put_number(&p, 1, plain->dims[i]);
    put_number(&p, 2, data_type((sp_dtype)plain->dtype));
    put_text(&p, 7, name);
    put_bytes(&p, 9, sp_tensor_data(plain), sp_tensor_bytes(plain));
    if (ref_key) {
        put_text(&p, 13, ref_key);
        put_number(&p, 16, 0);
    }
    sp_tensor_release(plain);
    put_message(m, field, &p);
}

/* A Constant node with this attribute, whose fields but the name are in `value`. */
static const char *put_constant(build *b, msg *value, const char *name)
{
    msg node = {.status = SP_OK}, a = {.status = SP_OK};
    if (!name) name = text(b, "ValueNode_%d", ++b->counter);
    put_text(&a, 1, "value");
    if (value->status == SP_OK) value->status = sp__wire_put(&a.out, value->out.data, value->out.bytes);
    a.status = a.status == SP_OK ? value->status : a.status;
    sp__wire_out_free(&value->out);
    put_text(&node, 2, name);
    put_text(&node, 3, name);
    put_text(&node, 4, "Constant");
    put_message(&node, 5, &a);
    put_message(&b->graph_out, 1, &node);
    return name;
}

static const char *constant_int(build *b, int64_t v)
{
    msg m = {.status = SP_OK};
    put_number(&m, 3, v);
    put_number(&m, 16, T_INT64);
    return put_constant(b, &m, NULL);
}

static const char *constant_bool(build *b, bool v)
{
    msg m = {.status = SP_OK};
    put_number(&m, 3, v);
    put_number(&m, 16, T_BOOL);
    return put_constant(b, &m, NULL);
}

static const char *constant_float(build *b, double v)
{
    msg m = {.status = SP_OK};
    put_float(&m, 2, (float)v);
    put_number(&m, 16, T_FLOAT);
    return put_constant(b, &m, NULL);
}

static const char *constant_type(build *b, int type)
{
    msg m = {.status = SP_OK};
    put_number(&m, 16, type);
    return put_constant(b, &m, NULL);
}

static void put_ints(msg *m, int n, const int64_t *v)
{
    put_number(m, 16, T_TUPLE);
    for (int i = 0; i < n; i++) {
        msg e = {.status = SP_OK};
        put_number(&e, 10, v[i]);
        put_number(&e, 16, T_INT64);
        put_message(m, 17, &e);
    }
}

static const char *constant_ints(build *b, int n, const int64_t *v)
{
    msg m = {.status = SP_OK};
    put_ints(&m, n, v);
    return put_constant(b, &m, NULL);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

static const char *weight_name(const build *b, const sp_tensor *t)
{
    for (int i = 0; i < b->names->n_parameters; i++)
        if (b->names->parameters[i] == t) return b->names->parameter_names[i];
    return NULL;
}

static const char *value_name(build *b, const sp_value *v)
{
    if (v->origin == SP_VALUE_FUNCTION) return function_name(b, v->target);
    if (v->origin == SP_VALUE_CONSTANT) return text(b, "Constant_%d", v->id);
    const char *owner = function_name(b, v->owner);
    if (v->origin == SP_VALUE_PARAM && v->owner == b->entry && v->index < b->names->n_inputs)
        return text(b, "%s:%s", owner, b->names->inputs[v->index]);
    return text(b, "%s:v%d", owner, v->id);
}

/* Its name, for use as an input; a constant is written where it is first met. */
static const char *use(build *b, const sp_value *v)
{
    const char *name = value_name(b, v);
    if (v->origin != SP_VALUE_CONSTANT || b->written[v->id]) return name;
    b->written[v->id] = 1;
    msg m = {.status = SP_OK};
    put_tensor(&m, 12, v->constant, "value0", NULL);
    put_number(&m, 16, T_TENSORS);
    return put_constant(b, &m, name);
}

/* --- primitives and nodes ---------------------------------------------------------------------------------------- */

/* An instance with attributes (NULL: none, then one serves all). */
static const char *instance(build *b, const char *type, int kind, msg *attrs)
{
    for (struct known *k = attrs ? NULL : b->known; k; k = k->next)
        if (!strcmp(k->type, type)) return k->name;
    struct known *k = sp__arena_alloc(&b->arena, sizeof *k);
    if (!k) {
        b->model.status = SP_NOMEM;
        return "";
    }
    snprintf(k->name, sizeof k->name, "%s:%d", type, ++b->counter);
    k->type = type;
    if (!attrs) {
        k->next = b->known;
        b->known = k;
    }
    msg p = {.status = SP_OK};
    put_text(&p, 1, k->name);
    put_text(&p, 2, type);
    if (attrs) {
        if (attrs->status == SP_OK) attrs->status = sp__wire_put(&p.out, attrs->out.data, attrs->out.bytes);
        if (p.status == SP_OK) p.status = attrs->status;
        sp__wire_out_free(&attrs->out);
    }
    put_text(&p, 4, "");
    put_number(&p, 5, kind);
    put_message(&b->primitives, 12, &p);
    return k->name;
}

typedef struct {
    msg m;
    int n_in;
} node;

static node begin_node(void) { return (node){.m = {.status = SP_OK}}; }
static void add_input(node *n, const char *name)
{
    put_text(&n->m, 1, name);
    n->n_in++;
}

/* What the node is: REF::<what>, its result called `name`, of the type that put_type.. left in `type`. */
static void end_node(build *b, node *n, const char *what, const char *name, msg *type)
{
    put_text(&n->m, 2, name);
    put_text(&n->m, 3, name);
    put_text(&n->m, 4, text(b, "REF::%s", what));
    if (type) {
        if (n->m.status == SP_OK) n->m.status = type->status;
        if (n->m.status == SP_OK) n->m.status = sp__wire_put(&n->m.out, type->out.data, type->out.bytes);
        sp__wire_out_free(&type->out);
    }
    put_text(&n->m, 7, text(b, "Default/%s-op%d", what, ++b->counter));
    put_message(&b->graph_out, 1, &n->m);
}

/* A node with one result of v's type. */
static void end_value(build *b, node *n, const char *what, const char *name, const sp_meta *meta)
{
    msg type = {.status = SP_OK};
    const sp_value v = {.meta = *meta};
    put_type(&type, 5, "shape", &v);
    end_node(b, n, what, name, &type);
}

/* A simple operator on named values; the result gets a fresh name. */
static const char *apply2(build *b, const char *type, const char *x, const char *y, const sp_meta *meta)
{
    node n = begin_node();
    const char *name = text(b, "%s:t%d", function_name(b, b->fn), ++b->counter);
    add_input(&n, x);
    if (y) add_input(&n, y);
    end_value(b, &n, instance(b, type, FUNCTION_PRIMITIVE, NULL), name, meta);
    return name;
}

static void name_items(build *b, const char *tuple, int n, sp_value *const *v)
{
    for (int i = 0; i < n; i++) {
        node item = begin_node();
        const char *index = constant_int(b, i);
        add_input(&item, tuple);
        add_input(&item, index);
        end_value(b, &item, instance(b, "TupleGetItem", PRIMITIVE, NULL), value_name(b, v[i]), &v[i]->meta);
    }
}

/* The node of an operator or call: its results get their names, through a tuple when there are several. */
static void end_results(build *b, node *n, const char *what, int n_out, sp_value *const *out, bool tuple)
{
    if (n_out == 1 && !tuple) {
        end_value(b, n, what, value_name(b, out[0]), &out[0]->meta);
        return;
    }
    const char *name = text(b, "%s:t%d", function_name(b, b->fn), ++b->counter);
    msg type = {.status = SP_OK};
    put_types(&type, 5, "shape", n_out, out);
    end_node(b, n, what, name, &type);
    name_items(b, name, n_out, out);
}

static const char *make_tuple(build *b, int n, sp_value *const *v)
{
    const char **names = sp__arena_alloc(&b->arena, (size_t)(n + 1) * sizeof *names);
    const char *name = text(b, "%s:t%d", function_name(b, b->fn), ++b->counter);
    msg type = {.status = SP_OK};
    if (!names) {
        b->model.status = SP_NOMEM;
        return name;
    }
    for (int i = 0; i < n; i++) names[i] = use(b, v[i]);
    node t = begin_node();
    for (int i = 0; i < n; i++) add_input(&t, names[i]);
    put_types(&type, 5, "shape", n, v);
    end_node(b, &t, instance(b, "MakeTuple", PRIMITIVE, NULL), name, &type);
    return name;
}

/* --- attributes of our operators --------------------------------------------------------------------------------- */

static const void *attr_at(const sp_node *n, const char *name, sp_attr_type *type)
{
    for (int i = 0; i < n->op->n_attrs; i++)
        if (!strcmp(n->op->attrs[i].name, name)) {
            *type = n->op->attrs[i].type;
            return (const char *)n->attrs + n->op->attrs[i].offset;
        }
    return NULL;
}

static int64_t int_of(const sp_node *n, const char *name)
{
    sp_attr_type type;
    const void *p = attr_at(n, name, &type);
    return !p ? 0 : type == SP_ATTR_BOOL ? *(const bool *)p : *(const int64_t *)p;
}

static sp_ints ints_of(const sp_node *n, const char *name)
{
    sp_attr_type type;
    const void *p = attr_at(n, name, &type);
    return p ? *(const sp_ints *)p : (sp_ints){.n = -1};
}

static const char *text_of(const sp_node *n, const char *name)
{
    sp_attr_type type;
    const char *const *p = attr_at(n, name, &type);
    return p && *p ? *p : "";
}

static const char *constant_attr(build *b, const sp_node *n, const char *name)
{
    sp_attr_type type = SP_ATTR_INT;
    const void *p = attr_at(n, name, &type);
    int64_t turned[SP_RANK_MAX];
    if (!p) return constant_type(b, T_NONE);
    switch (type) {
    case SP_ATTR_INT: return *(const int64_t *)p == SP_INT_NONE ? constant_type(b, T_NONE) : constant_int(b, *(const int64_t *)p);
    case SP_ATTR_BOOL: return constant_bool(b, *(const bool *)p);
    case SP_ATTR_FLOAT: return constant_float(b, *(const double *)p);
    case SP_ATTR_DTYPE: return constant_int(b, type_number(*(const sp_dtype *)p));
    case SP_ATTR_INTS: {
        const sp_ints *v = p;
        if (v->n == 1 && !strcmp(n->op->name, "log_softmax")) return constant_int(b, v->v[0]); /* it takes one axis */
        if (v->n >= 0) return constant_ints(b, v->n, v->v);
        if (strcmp(name, "perm")) return constant_ints(b, 0, NULL); /* all axes */
        int rank = n->in[0]->meta.rank;
        for (int i = 0; i < rank; i++) turned[i] = rank - 1 - i;
        return constant_ints(b, rank, turned);
    }
    default: return constant_type(b, T_NONE);
    }
}

static void put_attr_ints(msg *m, const char *name, int n, const int64_t *v)
{
    msg a = {.status = SP_OK};
    put_text(&a, 1, name);
    put_ints(&a, n, v);
    put_message(m, 3, &a);
}

static void put_attr_int(msg *m, const char *name, int64_t v)
{
    msg a = {.status = SP_OK};
    put_text(&a, 1, name);
    put_number(&a, 3, v);
    put_number(&a, 16, T_INT64);
    put_message(m, 3, &a);
}

static void put_attr_text(msg *m, const char *name, const char *v)
{
    msg a = {.status = SP_OK};
    put_text(&a, 1, name);
    put_text(&a, 5, v);
    put_number(&a, 16, T_STRING);
    put_message(m, 3, &a);
}

/* --- operators with code ----------------------------------------------------------------------------------------- */

/* One number for both axes, or one each. */
static void pair_of(sp_ints v, int64_t initial, int64_t out[2])
{
    out[0] = v.n > 0 ? v.v[0] : initial;
    out[1] = v.n > 1 ? v.v[1] : out[0];
}

static const char *reshaped(build *b, const char *name, sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_meta meta = {.dtype = dtype, .rank = rank};
    memcpy(meta.dims, dims, (size_t)rank * sizeof *dims);
    const char *shape = constant_ints(b, rank, dims);
    return apply2(b, "Reshape", name, shape, &meta);
}

static sp_status write_conv(build *b, const sp_node *n)
{
    int64_t stride[2], dilation[2], pads[4] = {0}, kernel[2];
    const sp_meta *w = &n->in[1]->meta;
    sp_ints pad = ints_of(n, "pad");
    const char *mode = text_of(n, "pad_mode"), *x = use(b, n->in[0]), *weight = use(b, n->in[1]);
    pair_of(ints_of(n, "stride"), 1, stride);
    pair_of(ints_of(n, "dilation"), 1, dilation);
    for (int i = 0; i < 4 && !strcmp(mode, "pad"); i++)
        pads[i] = pad.n == 4 ? pad.v[i] : pad.n == 2 ? pad.v[i / 2] : pad.n == 1 ? pad.v[0] : 0;
    for (int i = 0; i < 2; i++) kernel[i] = w->dims[2 + i];
    msg a = {.status = SP_OK};
    put_attr_ints(&a, "kernel_size", 2, kernel);
    put_attr_int(&a, "mode", 1);
    put_attr_int(&a, "out_channel", w->dims[0]);
    put_attr_ints(&a, "pad", 4, pads);
    put_attr_text(&a, "pad_mode", mode);
    put_attr_text(&a, "format", "NCHW");
    put_attr_int(&a, "groups", int_of(n, "group"));
    put_attr_int(&a, "group", int_of(n, "group"));
    put_attr_ints(&a, "stride", 4, (int64_t[]){1, 1, stride[0], stride[1]});
    put_attr_ints(&a, "dilation", 4, (int64_t[]){1, 1, dilation[0], dilation[1]});
    const char *conv = instance(b, "Conv2D", PRIMITIVE, &a), *out = value_name(b, n->out[0]);
    bool bias = n->n_in > 2 && n->in[2];
    const char *bias_name = bias ? use(b, n->in[2]) : NULL, *format = bias ? constant_int(b, 0) : NULL;
    const char *name = bias ? text(b, "%s:t%d", function_name(b, b->fn), ++b->counter) : out;
    node c = begin_node();
    add_input(&c, x);
    add_input(&c, weight);
    end_value(b, &c, conv, name, &n->out[0]->meta);
    if (!bias) return SP_OK;
    node sum = begin_node();
    add_input(&sum, name);
    add_input(&sum, bias_name);
    add_input(&sum, format);
    end_value(b, &sum, instance(b, "BiasAdd", FUNCTION_PRIMITIVE, NULL), out, &n->out[0]->meta);
    return SP_OK;
}

static sp_status write_pool(build *b, const sp_node *n)
{
    bool max = !strcmp(n->op->name, "max_pool2d");
    int64_t kernel[2], stride[2];
    sp_ints pad = ints_of(n, "pad"), given = ints_of(n, "stride");
    const char *mode = text_of(n, "pad_mode"), *x = use(b, n->in[0]);
    bool padded = false;
    for (int i = 0; i < pad.n; i++) padded |= pad.v[i] != 0;
    bool same = !strcmp(mode, "same");
    SP_CHECK(!(strcmp(mode, "pad") == 0 && padded) && !int_of(n, "ceil_mode"), SP_VALUE,
             "pooling with padding of its own or ceil_mode has no counterpart in MindIR: pad the input before");
    pair_of(ints_of(n, "kernel_size"), 1, kernel);
    pair_of(given.n > 0 ? given : ints_of(n, "kernel_size"), 1, stride);
    node p = begin_node();
    add_input(&p, x);
    if (max) {
        msg a = {.status = SP_OK};
        put_attr_text(&a, "pad_mode", same ? "SAME" : "VALID");
        put_attr_ints(&a, "kernel_size", 4, (int64_t[]){1, 1, kernel[0], kernel[1]});
        put_attr_text(&a, "format", "NCHW");
        put_attr_ints(&a, "strides", 4, (int64_t[]){1, 1, stride[0], stride[1]});
        end_value(b, &p, instance(b, "MaxPool", PRIMITIVE, &a), value_name(b, n->out[0]), &n->out[0]->meta);
        return SP_OK;
    }
    const char *more[] = {constant_ints(b, 2, kernel), constant_ints(b, 2, stride), constant_int(b, same ? 1 : 2), constant_int(b, 0)};
    for (int i = 0; i < 4; i++) add_input(&p, more[i]);
    end_value(b, &p, instance(b, "AvgPool", FUNCTION_PRIMITIVE, NULL), value_name(b, n->out[0]), &n->out[0]->meta);
    return SP_OK;
}

/* With its last two axes exchanged. */
static const char *turned(build *b, const char *name, const sp_meta *meta)
{
    sp_meta t = *meta;
    int64_t perm[SP_RANK_MAX];
    for (int i = 0; i < t.rank; i++) perm[i] = i;
    perm[t.rank - 1] = t.rank - 2;
    perm[t.rank - 2] = t.rank - 1;
    t.dims[t.rank - 1] = meta->dims[t.rank - 2];
    t.dims[t.rank - 2] = meta->dims[t.rank - 1];
    const char *order = constant_ints(b, t.rank, perm);
    return apply2(b, "Transpose", name, order, &t);
}

static sp_status write_matmul(build *b, const sp_node *n)
{
    static const char *const flags[] = {"transpose_a", "transpose_b"};
    int x = n->in[0]->meta.rank, y = n->in[1]->meta.rank;
    const char *type = x == 2 && y == 2 ? "MatMul" : x > 2 && y > 2 ? "BatchMatMul" : "MatMulExt";
    bool ext = !strcmp(type, "MatMulExt");
    const char *in[4] = {use(b, n->in[0]), use(b, n->in[1])};
    for (int i = 0; i < 2 && ext; i++)
        if (int_of(n, flags[i]) && n->in[i]->meta.rank > 1) in[i] = turned(b, in[i], &n->in[i]->meta);
    if (!ext) {
        in[2] = constant_bool(b, int_of(n, "transpose_a"));
        in[3] = constant_bool(b, int_of(n, "transpose_b"));
    }
    node m = begin_node();
    for (int i = 0; i < (ext ? 2 : 4); i++) add_input(&m, in[i]);
    end_value(b, &m, instance(b, type, FUNCTION_PRIMITIVE, NULL), value_name(b, n->out[0]), &n->out[0]->meta);
    return SP_OK;
}

/* x * scale + shift along axis 1. */
static sp_status write_affine(build *b, const sp_node *n)
{
    int rank = n->in[0]->meta.rank;
    int64_t dims[SP_RANK_MAX];
    const char *x = use(b, n->in[0]), *part[2];
    for (int i = 0; i < rank; i++) dims[i] = 1;
    for (int i = 0; i < 2; i++) {
        part[i] = use(b, n->in[i + 1]);
        if (rank <= 2) continue;
        dims[0] = n->in[i + 1]->meta.dims[0];
        part[i] = reshaped(b, part[i], n->in[i + 1]->meta.dtype, rank - 1, dims);
    }
    const char *scaled = apply2(b, "Mul", x, part[0], &n->out[0]->meta);
    node sum = begin_node();
    add_input(&sum, scaled);
    add_input(&sum, part[1]);
    end_value(b, &sum, instance(b, "Add", FUNCTION_PRIMITIVE, NULL), value_name(b, n->out[0]), &n->out[0]->meta);
    return SP_OK;
}

/* x[::-1] along some axes, whole along the others. */
static sp_status write_reverse(build *b, const sp_node *n, sp_ints start, sp_ints stop, sp_ints step)
{
    int64_t axes[SP_RANK_MAX];
    int n_axes = 0;
    for (int i = 0; i < start.n; i++) {
        int64_t size = n->in[0]->meta.dims[i];
        bool whole = step.v[i] == 1 && start.v[i] == 0 && stop.v[i] == size;
        bool turned = step.v[i] == -1 && start.v[i] == size - 1 && stop.v[i] == -1;
        SP_CHECK(whole || turned, SP_VALUE, "slicing with a negative step has no counterpart in MindIR, but for whole dimensions");
        if (turned) axes[n_axes++] = i;
    }
    node r = begin_node();
    add_input(&r, use(b, n->in[0]));
    add_input(&r, constant_ints(b, n_axes, axes));
    end_value(b, &r, instance(b, "ReverseV2", FUNCTION_PRIMITIVE, NULL), value_name(b, n->out[0]), &n->out[0]->meta);
    return SP_OK;
}

static sp_status write_slice(build *b, const sp_node *n)
{
    sp_ints start = ints_of(n, "start"), stop = ints_of(n, "stop"), step = ints_of(n, "step");
    int64_t ones[SP_RANK_MAX];
    for (int i = 0; i < SP_RANK_MAX; i++) ones[i] = 1;
    for (int i = 0; i < step.n; i++)
        if (step.v[i] < 0) return write_reverse(b, n, start, stop, step);
    const char *in[9] = {use(b, n->in[0]), constant_ints(b, start.n, start.v), constant_ints(b, stop.n, stop.v),
                         constant_ints(b, start.n, step.n < 0 ? ones : step.v)};
    for (int i = 4; i < 9; i++) in[i] = constant_int(b, 0);
    node s = begin_node();
    for (int i = 0; i < 9; i++) add_input(&s, in[i]);
    end_value(b, &s, instance(b, "StridedSlice", FUNCTION_PRIMITIVE, NULL), value_name(b, n->out[0]), &n->out[0]->meta);
    return SP_OK;
}

/* One index tensor picks along one axis. */
static sp_status write_index(build *b, const sp_node *n)
{
    sp_ints axes = ints_of(n, "axes");
    SP_CHECK(n->n_in == 2, SP_VALUE, "indexing by several tensors at a time is not written to MindIR");
    const char *in[4] = {use(b, n->in[0]), use(b, n->in[1]), constant_int(b, axes.n > 0 ? axes.v[0] : 0), constant_int(b, 0)};
    node g = begin_node();
    for (int i = 0; i < 4; i++) add_input(&g, in[i]);
    end_value(b, &g, instance(b, "Gather", FUNCTION_PRIMITIVE, NULL), value_name(b, n->out[0]), &n->out[0]->meta);
    return SP_OK;
}

static const char *scalar(build *b, sp_dtype dtype, double v)
{
    sp_tensor *t;
    msg m = {.status = SP_OK};
    if (sp_tensor_create_f64(dtype, v, &t) != SP_OK) {
        b->model.status = SP_NOMEM;
        return "";
    }
    put_tensor(&m, 12, t, "value0", NULL);
    put_number(&m, 16, T_TENSORS);
    sp_tensor_release(t);
    return put_constant(b, &m, NULL);
}

/* x * 0.5 * (1 + erf(x / sqrt(2))) */
static sp_status write_gelu(build *b, const sp_node *n)
{
    const sp_meta *meta = &n->out[0]->meta;
    const char *x = use(b, n->in[0]);
    const char *root = scalar(b, meta->dtype, 0.70710678118654752), *one = scalar(b, meta->dtype, 1), *half = scalar(b, meta->dtype, 0.5);
    const char *e = apply2(b, "Erf", apply2(b, "Mul", x, root, meta), NULL, meta);
    const char *sum = apply2(b, "Add", e, one, meta), *part = apply2(b, "Mul", x, half, meta);
    node m = begin_node();
    add_input(&m, part);
    add_input(&m, sum);
    end_value(b, &m, instance(b, "Mul", FUNCTION_PRIMITIVE, NULL), value_name(b, n->out[0]), meta);
    return SP_OK;
}

static sp_status write_split(build *b, const sp_node *n)
{
    sp_ints sizes = ints_of(n, "sizes");
    for (int i = 1; i < sizes.n; i++)
        SP_CHECK(sizes.v[i] == sizes.v[0], SP_VALUE, "splitting into parts of different sizes is not written to MindIR");
    const char *in[3] = {use(b, n->in[0]), constant_int(b, int_of(n, "axis")), constant_int(b, sizes.n)};
    node s = begin_node();
    for (int i = 0; i < 3; i++) add_input(&s, in[i]);
    end_results(b, &s, instance(b, "Split", FUNCTION_PRIMITIVE, NULL), n->n_out, n->out, true);
    return SP_OK;
}

/* A tensor full of one number is a constant. */
static sp_status write_full(build *b, const sp_node *n)
{
    sp_tensor *t;
    int count;
    msg m = {.status = SP_OK};
    for (int k = 0; k < n->out[0]->meta.rank; k++)
        SP_CHECK(n->out[0]->meta.dims[k] >= 0, SP_DECLINED, "a new tensor of a free size is not written to MindIR");
    SP_TRY(sp_apply(n->op, n->attrs, 0, NULL, 1, &t, &count));
    put_tensor(&m, 12, t, "value0", NULL);
    put_number(&m, 16, T_TENSORS);
    sp_tensor_release(t);
    put_constant(b, &m, value_name(b, n->out[0]));
    return SP_OK;
}

static sp_status write_stack(build *b, const sp_node *n)
{
    bool stack = !strcmp(n->op->name, "stack");
    const char *x = stack ? make_tuple(b, n->n_in, n->in) : use(b, n->in[0]);
    msg a = {.status = SP_OK};
    put_attr_int(&a, "axis", int_of(n, "axis"));
    if (!stack) put_attr_int(&a, "num", n->n_out);
    node s = begin_node();
    add_input(&s, x);
    end_results(b, &s, instance(b, stack ? "Stack" : "Unstack", PRIMITIVE, &a), n->n_out, n->out, !stack);
    return SP_OK;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *op, *type, *inputs;
    sp_status (*write)(build *b, const sp_node *n);
} row;

static const row rows[] = {
    {"conv2d", NULL, NULL, write_conv}, {"max_pool2d", NULL, NULL, write_pool}, {"avg_pool2d", NULL, NULL, write_pool},
    {"matmul", NULL, NULL, write_matmul}, {"channel_affine", NULL, NULL, write_affine}, {"slice", NULL, NULL, write_slice},
    {"gelu", NULL, NULL, write_gelu}, {"split", NULL, NULL, write_split}, {"stack", NULL, NULL, write_stack},
    {"unstack", NULL, NULL, write_stack}, {"index", NULL, NULL, write_index}, {"full", NULL, NULL, write_full},
    {"div", "Div", "0 1", NULL}, {"gelu_tanh", "GeLU", "0", NULL}, {"reshape", "Reshape", "0 shape", NULL},
    {"transpose", "Transpose", "0 perm", NULL}, {"broadcast_to", "BroadcastTo", "0 shape", NULL},
    {"reduce_mean", "ReduceMean", "0 axis keepdims", NULL}, {"reduce_sum", "ReduceSum", "0 axis keepdims =F", NULL},
    {"reduce_max", "ReduceMax", "0 axis keepdims", NULL}, {"reduce_min", "ReduceMin", "0 axis keepdims", NULL},
    {"reduce_prod", "ReduceProd", "0 axis keepdims", NULL}, {"reduce_all", "ReduceAll", "0 axis keepdims", NULL},
    {"reduce_any", "ReduceAny", "0 axis keepdims", NULL}, {"softmax", "Softmax", "0 axis", NULL},
    {"log_softmax", "LogSoftmax", "0 axis", NULL},
    {"layer_norm", "LayerNorm", "0 1 2 begin_norm_axis begin_params_axis epsilon", NULL}, {"cast", "Cast", "0 dtype", NULL},
    {"gather", "Gather", "0 1 axis batch_dims", NULL}, {"concat", "Concat", "* axis", NULL},
    {"argmax", "Argmax", "0 axis dtype", NULL}, {"argmin", "Argmin", "0 axis dtype", NULL}, {"elu", "Elu", "0 alpha", NULL},
    {"max_with_index", "ArgMaxWithValue", "0 axis keepdims", NULL}, {"min_with_index", "ArgMinWithValue", "0 axis keepdims", NULL},
    {"one_hot", "OneHot", "0 depth 1 2 axis", NULL}, {"gather_elements", "GatherD", "0 dim 1", NULL},
    {"select", "Select", "0 1 2", NULL}, {"select_same", "Select", "0 1 2", NULL},
};

/* Without attributes but not taken as functions by MindSpore. */
static const char plain_primitives[] = " BitwiseAnd BitwiseOr BitwiseXor ComplexAbs Digamma DivNoNan Fmax Fmin Heaviside Hypot Imag "
                                       "Invert IsNan Lcm Lgamma MatrixInverse Mish MulNoNan SeLU Softsign SquaredDifference "
                                       "TruncateDiv TruncateMod Xdivy Zeta ";

static const row *row_of(const sp_op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].op, op->name)) return &rows[i];
    return NULL;
}

static bool is_plain(const sp_op *op) { return op->mindir && !op->n_attrs && op->n_out >= 0 && !op->writes; }

/* Does it do nothing to its input? */
static bool is_identity(const sp_op *op)
{
    return !strcmp(op->name, "identity") || !strcmp(op->name, "copy") || !strcmp(op->name, "stop_gradient") || !strcmp(op->name, "after");
}

static sp_status write_row(build *b, const sp_node *n, const row *r)
{
    const char *in[16];
    int count = 0;
    for (const char *p = r->inputs; *p; p += *p == ' ') {
        size_t bytes = strcspn(p, " ");
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)bytes, p);
        if (*p >= '0' && *p <= '9') {
            int k = *p - '0';
            SP_CHECK(k < n->n_in && n->in[k], SP_VALUE, "%s without input %d has no counterpart in MindIR", n->op->name, k);
            in[count++] = use(b, n->in[k]);
        } else if (*p == '*') in[count++] = make_tuple(b, n->n_in, n->in);
        else if (*p == '=') in[count++] = constant_bool(b, false);
        else in[count++] = constant_attr(b, n, name);
        p += bytes;
    }
    node m = begin_node();
    for (int i = 0; i < count; i++) add_input(&m, in[i]);
    end_results(b, &m, instance(b, r->type, FUNCTION_PRIMITIVE, NULL), n->n_out, n->out, n->n_out > 1);
    return SP_OK;
}

static sp_status write_plain(build *b, const sp_node *n)
{
    int n_open = 0;
    for (int k = 0; k < n->out[0]->meta.rank; k++) n_open += n->out[0]->meta.dims[k] < 0;
    const char *in[SP_IN_MAX], *type = !is_identity(n->op) ? n->op->mindir : n_open > 1 ? "Cast" : "Reshape";
    char spaced[64];
    int count = 0;
    if (is_identity(n->op)) { /* the same shape or dtype again: a node that only names */
        in[count++] = use(b, n->in[0]);
        in[count++] = n_open > 1 ? constant_int(b, type_number(n->out[0]->meta.dtype)) : constant_ints(b, n->out[0]->meta.rank, n->out[0]->meta.dims);
    } else
        for (int i = 0; i < n->n_in && i < SP_IN_MAX; i++) {
            SP_CHECK(n->in[i], SP_VALUE, "%s without input %d has no counterpart in MindIR", n->op->name, i);
            in[count++] = use(b, n->in[i]);
        }
    snprintf(spaced, sizeof spaced, " %s ", type);
    node m = begin_node();
    for (int i = 0; i < count; i++) add_input(&m, in[i]);
    end_results(b, &m, instance(b, type, strstr(plain_primitives, spaced) ? PRIMITIVE : FUNCTION_PRIMITIVE, NULL), n->n_out, n->out,
                n->n_out > 1);
    return SP_OK;
}

/* --- control flow ------------------------------------------------------------------------------------------------ */

static sp_status write_read(build *b, const sp_node *n)
{
    const char *weight = weight_name(b, n->variable->tensor);
    SP_CHECK(weight, SP_VALUE, "a Parameter that the network does not list is used");
    if (!b->monad) b->monad = constant_type(b, T_UMONAD);
    node l = begin_node();
    add_input(&l, text(b, "%s:%s", function_name(b, b->entry), weight));
    add_input(&l, b->monad);
    end_value(b, &l, instance(b, "Load", PRIMITIVE, NULL), value_name(b, n->out[0]), &n->out[0]->meta);
    return SP_OK;
}

static void write_call(build *b, const sp_node *n, const char *result)
{
    const char **in = sp__arena_alloc(&b->arena, (size_t)(n->n_in + 1) * sizeof *in);
    if (!in) {
        b->model.status = SP_NOMEM;
        return;
    }
    for (int i = 1; i < n->n_in; i++) in[i] = use(b, n->in[i]);
    node c = begin_node();
    for (int i = 1; i < n->n_in; i++) add_input(&c, in[i]);
    if (result) end_node(b, &c, value_name(b, n->in[0]), result, NULL);
    else end_results(b, &c, value_name(b, n->in[0]), n->n_out, n->out, n->n_out > 1);
}

static sp_status write_function_value(build *b, const sp_node *n)
{
    const char *in[64];
    SP_CHECK(n->n_in <= 64, SP_VALUE, "a function with %d bound arguments is not written to MindIR", n->n_in - 1);
    for (int i = 0; i < n->n_in; i++) in[i] = use(b, n->in[i]);
    node f = begin_node();
    for (int i = 0; i < n->n_in; i++) add_input(&f, in[i]);
    end_node(b, &f, instance(b, n->kind == SP_NODE_SWITCH ? "Switch" : "Partial", PRIMITIVE, NULL), value_name(b, n->out[0]), NULL);
    return SP_OK;
}

static sp_status write_node(build *b, const sp_node *n)
{
    switch (n->kind) {
    case SP_NODE_READ: return write_read(b, n);
    case SP_NODE_CALL:
        if (n->n_out) write_call(b, n, NULL); /* without results it has no effect either: there are no stores */
        return SP_OK;
    case SP_NODE_PARTIAL:
    case SP_NODE_SWITCH: return write_function_value(b, n);
    default: break;
    }
    const row *r = row_of(n->op);
    sp_status status = r && r->write ? r->write(b, n) : r ? write_row(b, n, r) : write_plain(b, n);
    if (status != SP_OK) sp__error_context("%s%s%s", n->op->name, n->place ? ", line " : "", n->place ? text(b, "%d of %s", n->place->line, n->place->file) : "");
    return status;
}

/* --- functions and the model ------------------------------------------------------------------------------------- */

static void write_inputs(build *b, const sp_function *f)
{
    for (int i = 0; i < f->n_params; i++) {
        msg v = {.status = SP_OK};
        put_text(&v, 1, value_name(b, f->params[i]));
        put_tensor_type(&v, 2, &f->params[i]->meta, NULL);
        put_message(&b->graph_out, 5, &v);
    }
}

static void write_weights(build *b)
{
    for (int i = 0; i < b->names->n_parameters; i++) {
        const char *name = b->names->parameter_names[i];
        bool used = false;
        for (int k = 0; k < b->graph->n_variables; k++) used |= b->graph->variables[k]->tensor == b->names->parameters[i];
        const char *full = used ? text(b, "%s:%s", function_name(b, b->entry), name) : NULL;
        if (used && b->outside) put_weight_outside(b, b->names->parameters[i], full, name);
        else if (used) put_tensor(&b->graph_out, 3, b->names->parameters[i], full, name);
    }
}

static sp_status write_function(build *b, sp_function *f)
{
    const char *result;
    bool many = f->n_results > 1;
    b->fn = f;
    b->graph_out = (msg){.status = SP_OK};
    for (const sp_node *n = f->first; n; n = n->next)
        if (n != f->tail) SP_TRY(write_node(b, n));
    if (f->tail) {
        result = text(b, "%s:t%d", function_name(b, f), ++b->counter);
        write_call(b, f->tail, result);
    } else result = many || !f->n_results ? make_tuple(b, f->n_results, f->results) : use(b, f->results[0]);
    put_text(&b->graph_out, 2, function_name(b, f));
    if (f == b->entry) write_weights(b);
    write_inputs(b, f);
    msg o = {.status = SP_OK};
    put_text(&o, 1, result);
    if (many) {
        put_text(&o, 4, "Tuple");
        put_types(&o, 5, NULL, f->n_results, f->results);
    } else if (f->n_results == 1) put_tensor_type(&o, 2, &f->results[0]->meta, NULL);
    put_message(&b->graph_out, 6, &o);
    put_text(&b->graph_out, 7, "");
    put_text(&b->graph_out, 9, "");
    put_message(&b->model, f == b->entry ? 7 : 8, &b->graph_out);
    return b->model.status;
}

static void reach(build *b, sp_function *f)
{
    if (b->reached[f->id]) return;
    b->reached[f->id] = 1;
    for (const sp_node *n = f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] && n->in[i]->origin == SP_VALUE_FUNCTION) reach(b, n->in[i]->target);
}

static const char *unsupported(const sp_node *n)
{
    switch (n->kind) {
    case SP_NODE_OP: return row_of(n->op) || is_plain(n->op) || is_identity(n->op) ? NULL : n->op->name;
    case SP_NODE_STORE: return "writing to a Parameter";
    case SP_NODE_HOST: return "Python code";
    case SP_NODE_GRAD: return "a gradient";
    default: return NULL;
    }
}

/* All that cannot be written, in one message. */
static sp_status check(const build *b)
{
    sp__text t = {0};
    int n_bad = 0;
    for (const sp_function *f = b->graph->first; f; f = f->next) {
        if (!b->reached[f->id]) continue;
        for (int i = 0; i < f->n_params; i++)
            if (f->params[i]->is_function && ++n_bad < 100) sp__text_put(&t, "; a function as an argument of %s", f->name);
        for (const sp_node *n = f->first; n; n = n->next) {
            const char *what = unsupported(n);
            if (!what || ++n_bad >= 100) continue;
            sp__text_put(&t, "; %s", what);
            if (n->place && n->place->file) sp__text_put(&t, " (%s:%d)", n->place->file, n->place->line);
        }
    }
    if (!n_bad) return SP_OK;
    sp_status status = sp__fail(SP_DECLINED, "the network holds what is not written to MindIR: %s", t.failed || !t.data ? "?" : t.data + 2);
    sp__free(t.data);
    return status;
}

/* MindSpore runs functions only when all they use is passed to them. Nothing is stored to, so Parameters may be read first of
 * all, at the start; then what functions use of others becomes arguments. The graph means the same afterwards. */
static sp_status pass_everything(sp_function *entry)
{
    sp_graph *g = entry->graph;
    for (sp_function *f = g->first; f; f = f->next) {
        for (sp_node *n = f->first, *next; f != entry && n; n = next) {
            next = n->next;
            if (n->kind != SP_NODE_READ) continue;
            sp_node *first = entry->first;
            sp_node *read = first ? sp__node_insert(first, SP_NODE_READ, 0, NULL, 1) : sp__node_append(entry, SP_NODE_READ, 0, NULL, 1);
            if (!read) return SP_NOMEM;
            read->variable = n->variable;
            read->out[0]->meta = n->out[0]->meta;
            sp__value_replace(g, n->out[0], read->out[0]);
            sp__node_remove(n);
        }
    }
    return sp__graph_close(g);
}

/* --- free sizes -------------------------------------------------------------------------------------------------- */

static void open_dims(sp_meta *m, const sp_meta *other)
{
    for (int k = 0; k < m->rank; k++)
        if (m->dims[k] != other->dims[k]) m->dims[k] = -1;
}

/* Sizes in attributes: of a shape one may be left to be inferred; a slice that ends with its operand does so at any size. */
static sp_status open_attr(sp_node *n, const sp_node *twin, const char *name)
{
    sp_attr_type type = SP_ATTR_INT;
    const sp_ints *a = attr_at(n, name, &type), *t = attr_at(twin, name, &type);
    int n_open = 0;
    if (!a || type != SP_ATTR_INTS || a->n != t->n) return SP_OK;
    for (int k = 0; k < a->n; k++) {
        int64_t *v = (int64_t *)(uintptr_t)&a->v[k], size = k < n->in[0]->meta.rank ? twin->in[0]->meta.dims[k] : 0;
        bool of_result = !strcmp(name, "shape") && a->n == n->out[0]->meta.rank;
        if (of_result) *v = n->out[0]->meta.dims[k]; /* instead of a -1: one may be left to be inferred */
        if (*v == (of_result ? twin->out[0]->meta.dims[k] : t->v[k])) continue;
        if (!strcmp(name, "shape")) *v = -1;
        else if (!strcmp(name, "stop") && t->v[k] == size) *v = INT32_MAX;
        else return sp__fail(SP_DECLINED, "%s: its attribute '%s' depends on free sizes in a way that MindIR cannot say", n->op->name, name);
        n_open++;
    }
    SP_CHECK(strcmp(n->op->name, "reshape") || n_open <= 1, SP_DECLINED,
             "a reshape to more than one free size is not written to MindIR; keep all but one of the dimensions fixed");
    return SP_OK;
}

/* What is of another size in the other recording gets the size -1. */
static sp_status free_sizes(build *b)
{
    static const char *const names[] = {"shape", "start", "stop", "sizes", "size", "output_size"};
    sp_function *other = b->names->other;
    if (!other) return SP_OK;
    SP_TRY(pass_everything(other));
    SP_TRY(sp__graph_pair(b->graph, other->graph));
    for (sp_function *f = b->graph->first; f; f = f->next) {
        const sp_function *twin = f->mark;
        for (int i = 0; i < f->n_params; i++) open_dims(&f->params[i]->meta, &twin->params[i]->meta);
        for (sp_node *n = f->first; n; n = n->next) {
            const sp_node *t = n->mark;
            for (int i = 0; i < n->n_in; i++) {
                const sp_value *x = n->in[i];
                SP_CHECK(!x || x->origin != SP_VALUE_CONSTANT || sp__shape_equal(x->meta.rank, x->meta.dims, t->in[i]->meta.rank, t->in[i]->meta.dims),
                         SP_DECLINED, "%s takes a constant that depends on free sizes, which is not written to MindIR", n->op ? n->op->name : "a call");
            }
            for (size_t k = 0; n->op && k < sizeof names / sizeof *names; k++) SP_TRY(open_attr(n, t, names[k]));
            for (int i = 0; i < n->n_out; i++) open_dims(&n->out[i]->meta, &t->out[i]->meta);
        }
    }
    return SP_OK;
}

static sp_status write_all(build *b)
{
    b->reached = sp__arena_alloc(&b->arena, (size_t)b->graph->n_functions + 1);
    if (!b->reached) return SP_NOMEM;
    reach(b, b->entry);
    SP_TRY(check(b));
    SP_TRY(pass_everything(b->entry));
    SP_TRY(free_sizes(b));
    if (!(b->written = sp__arena_alloc(&b->arena, (size_t)b->graph->next_value + 1))) return SP_NOMEM;
    put_text(&b->model, 1, "1.1");
    put_text(&b->model, 2, "MindSpore");
    put_text(&b->model, 5, "2.10.0");
    SP_TRY(write_function(b, b->entry));
    for (sp_function *f = b->graph->first; f; f = f->next)
        if (b->reached[f->id] && f != b->entry) SP_TRY(write_function(b, f));
    put_number(&b->model, 10, 1);
    if (b->model.status == SP_OK) b->model.status = b->primitives.status;
    if (b->model.status == SP_OK && b->primitives.out.bytes) b->model.status = sp__wire_put(&b->model.out, b->primitives.out.data, b->primitives.out.bytes);
    put_number(&b->model, 13, 3);
    return b->model.status;
}

sp_status sp__mindir_build(sp_function *f, const sp_model_names *names, sp_mindir_outside *outside, sp_wire_out *out)
{
    SP_CHECK(f->finished && f->n_params == names->n_inputs, SP_VALUE, "the function has %d inputs, but %d names are given", f->n_params,
             names->n_inputs);
    build b = {.graph = f->graph, .entry = f, .names = names, .outside = outside};
    sp_status status = write_all(&b);
    sp__wire_out_free(&b.primitives.out);
    if (status != SP_OK) {
        sp__wire_out_free(&b.graph_out.out);
        sp__wire_out_free(&b.model.out);
    } else *out = b.model.out;
    sp__arena_free(&b.arena);
    return status;
}
