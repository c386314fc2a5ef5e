/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_parse.c - a MindIR file as functions whose names are resolved. Field numbers: see the tables of mindir_weights.c and
 *   GraphProto     1 node | 2 name | 3 parameter | 5 input | 6 output
 *   NodeProto      1 input | 2 output | 3 name | 4 op_type | 5 attribute
 *   ValueInfoProto 1 name | 2 tensor | 4 denotation | 5 attr_info
 *   AttributeProto 1 name | 2 f | 3 i | 4 d | 5 s | 8 floats | 9 doubles | 10 ints | 11 strings | 12 tensors |
 *                  15 ref_attr_name (before 1.7) | 16 type | 17 values | 18 seq_info
 *   PrimitiveProto 1 name | 2 op_type | 3 attribute
 *
 * Two passes: the first counts and copies, the second looks names up, so the order of functions and nodes in the file does not
 * matter. Nothing here is deeper than MAX_NESTING, whatever the file says. */
#include <string.h>

#include "base/text.h"
#include "formats/mindir/mindir.h"

enum { MAX_NESTING = 32, MAX_FUNCTIONS = 2048 };

typedef struct {
    mi_model *m;
    sp__arena *arena;
    int depth;
} parser;

static void *alloc(parser *p, size_t n, size_t bytes) { return sp__arena_alloc(p->arena, n ? n * bytes : 1); }

sp_dtype sp__mindir_dtype(uint64_t number)
{
    static const int8_t known[] = {SP_DTYPE_NONE, SP_DTYPE_F32, SP_DTYPE_U8,   SP_DTYPE_I8,   SP_DTYPE_U16,  SP_DTYPE_I16,
                                   SP_DTYPE_I32,  SP_DTYPE_I64, SP_DTYPE_NONE, SP_DTYPE_BOOL, SP_DTYPE_F16,  SP_DTYPE_F64,
                                   SP_DTYPE_U32,  SP_DTYPE_U64, SP_DTYPE_C64,  SP_DTYPE_C128, SP_DTYPE_BF16, SP_DTYPE_F64};
    return number < sizeof known ? (sp_dtype)known[number] : SP_DTYPE_NONE;
}

/* --- fields ------------------------------------------------------------------------------------------------------ */

static sp_status take_text(parser *p, sp_wire *w, const char *what, int type, const char **out)
{
    sp_wire inner;
    SP_TRY(sp__wire_take_bytes(w, what, type, &inner));
    size_t bytes = sp__wire_left(&inner);
    SP_CHECK(bytes == 0 || memchr(inner.at, 0, bytes) == NULL, SP_FORMAT, "byte %zu: %s holds a NUL", sp__wire_offset(&inner), what);
    char *text = alloc(p, bytes + 1, 1);
    if (!text) return SP_NOMEM;
    if (bytes) memcpy(text, inner.at, bytes);
    *out = text;
    return SP_OK;
}

static int count_fields(sp_wire w, uint32_t wanted)
{
    int n = 0;
    uint32_t number;
    int type;
    while (sp__wire_more(&w) && sp__wire_field(&w, &number, &type) == SP_OK && sp__wire_skip(&w, number, type) == SP_OK)
        n += number == wanted;
    return n;
}

static mi_value *new_value(parser *p, mi_kind kind)
{
    mi_value *v = alloc(p, 1, sizeof *v);
    if (v) v->kind = kind;
    return v;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

typedef struct {
    sp_meta meta;
    uint64_t type;
    sp_wire raw;
    bool has_raw;
} tensor_proto;

static sp_status read_dims(sp_wire *w, int type, tensor_proto *t)
{
    if (type == SP_WIRE_VARINT) {
        uint64_t v;
        SP_TRY(sp__wire_varint(w, &v));
        SP_CHECK(t->meta.rank < SP_RANK_MAX, SP_FORMAT, "byte %zu: more than %d dimensions", sp__wire_offset(w), SP_RANK_MAX);
        t->meta.dims[t->meta.rank++] = (int64_t)v;
        return SP_OK;
    }
    sp_wire inner;
    SP_TRY(sp__wire_take_bytes(w, "dims", type, &inner));
    while (sp__wire_more(&inner)) SP_TRY(read_dims(&inner, SP_WIRE_VARINT, t));
    return SP_OK;
}

static sp_status read_tensor(sp_wire w, tensor_proto *t)
{
    memset(t, 0, sizeof *t);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(read_dims(&w, type, t));
        else if (number == 2) SP_TRY(sp__wire_take_number(&w, "data_type", type, &t->type));
        else if (number == 9) {
            SP_TRY(sp__wire_take_bytes(&w, "raw_data", type, &t->raw));
            t->has_raw = true;
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    t->meta.dtype = sp__mindir_dtype(t->type);
    return SP_OK;
}

/* The description of a tensor: unknown dimensions are -1, an unknown rank is written as one dimension of -2. */
static mi_value *type_of_tensor(parser *p, const tensor_proto *t)
{
    mi_value *v = new_value(p, MI_TENSOR);
    if (!v || !(v->meta = alloc(p, 1, sizeof *v->meta))) return NULL;
    v->is_type = true;
    v->dtype = t->meta.dtype;
    *v->meta = t->meta;
    for (int i = 0; i < v->meta->rank; i++)
        if (v->meta->dims[i] < -1) v->meta->rank = -1;
    return v;
}

static sp_status constant_tensor(parser *p, const tensor_proto *t, mi_value **out)
{
    size_t bytes;
    mi_model *m = p->m;
    SP_CHECK(t->meta.dtype != SP_DTYPE_NONE, SP_FORMAT, "a constant of data_type %llu, which is not supported",
             (unsigned long long)t->type);
    for (int i = 0; i < t->meta.rank; i++)
        SP_CHECK(t->meta.dims[i] >= 0, SP_FORMAT, "dimension %d of a constant is %lld", i, (long long)t->meta.dims[i]);
    SP_TRY(sp__meta_bytes(&t->meta, &bytes));
    SP_CHECK(bytes == sp__wire_left(&t->raw), SP_FORMAT, "a constant has %zu bytes, its shape needs %zu", sp__wire_left(&t->raw),
             bytes);
    if (m->n_tensors == m->tensors_capacity) {
        int more = m->tensors_capacity ? 2 * m->tensors_capacity : 32;
        sp_tensor **grown = sp__realloc(m->tensors, (size_t)m->tensors_capacity * sizeof *grown, (size_t)more * sizeof *grown);
        if (!grown) return SP_NOMEM;
        m->tensors = grown;
        m->tensors_capacity = more;
    }
    mi_value *v = new_value(p, MI_TENSOR);
    if (!v) return SP_NOMEM;
    SP_TRY(sp_tensor_create_from(t->meta.dtype, t->meta.rank, t->meta.dims, t->raw.at, &v->t));
    m->tensors[m->n_tensors++] = v->t;
    *out = v;
    return SP_OK;
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

enum { T_FLOAT = 1, T_STRING = 8, T_BOOL = 9, T_DOUBLE = 11, T_TENSORS = 19, T_TUPLE = 20, T_LIST = 21, T_DICT = 22,
       T_UMONAD = 23, T_IOMONAD = 24, T_NONE = 25, T_PRIMITIVE = 26, T_UNION = 29, T_SCALAR = 39 };

typedef struct {
    const char *name, *s, *old; /* old: ref_attr_name */
    uint64_t type;
    int64_t i;
    double f;
    bool has_i, has_f;
    int n_items;                /* in ints, floats, strings, tensors, in the order of the file */
    mi_value **items;
    int n_values;
    mi_value **values;
    mi_attr *members;
} attribute;

static sp_status read_attribute(parser *p, sp_wire w, bool is_type, mi_attr *out);

static sp_status add_number(parser *p, attribute *a, mi_kind kind, int64_t i, double f)
{
    mi_value *v = new_value(p, kind);
    if (!v) return SP_NOMEM;
    v->i = i;
    v->f = f;
    a->items[a->n_items++] = v;
    return SP_OK;
}

static sp_status take_ints(parser *p, sp_wire *w, int type, attribute *a, size_t room)
{
    sp_wire inner = *w;
    uint64_t v;
    if (type == SP_WIRE_BYTES) SP_TRY(sp__wire_take_bytes(w, "ints", type, &inner));
    else {
        SP_TRY(sp__wire_take_number(w, "ints", type, &v));
        return add_number(p, a, MI_INT, (int64_t)v, 0);
    }
    while (sp__wire_more(&inner)) {
        SP_TRY(sp__wire_varint(&inner, &v));
        SP_CHECK((size_t)a->n_items < room, SP_FORMAT, "byte %zu: too many numbers", sp__wire_offset(&inner));
        SP_TRY(add_number(p, a, MI_INT, (int64_t)v, 0));
    }
    return SP_OK;
}

static sp_status take_float(sp_wire *w, int type, double *out)
{
    if (type == SP_WIRE_FIXED32 && sp__wire_left(w) >= 4) {
        float f;
        memcpy(&f, w->at, 4);
        w->at += 4;
        *out = f;
        return SP_OK;
    }
    SP_CHECK(type == SP_WIRE_FIXED64 && sp__wire_left(w) >= 8, SP_FORMAT, "byte %zu: a number that is cut off",
             sp__wire_offset(w));
    memcpy(out, w->at, 8);
    w->at += 8;
    return SP_OK;
}

static sp_status take_floats(parser *p, sp_wire *w, uint32_t number, int type, attribute *a, size_t room)
{
    double f;
    if (type != SP_WIRE_BYTES) {
        SP_TRY(take_float(w, type, &f));
        return add_number(p, a, MI_FLOAT, 0, f);
    }
    sp_wire inner;
    SP_TRY(sp__wire_take_bytes(w, "floats", type, &inner));
    while (sp__wire_more(&inner)) {
        SP_TRY(take_float(&inner, number == 8 ? SP_WIRE_FIXED32 : SP_WIRE_FIXED64, &f));
        SP_CHECK((size_t)a->n_items < room, SP_FORMAT, "byte %zu: too many numbers", sp__wire_offset(&inner));
        SP_TRY(add_number(p, a, MI_FLOAT, 0, f));
    }
    return SP_OK;
}

static sp_status take_tensor(parser *p, sp_wire *w, int type, bool is_type, attribute *a)
{
    sp_wire inner;
    tensor_proto t;
    SP_TRY(sp__wire_take_bytes(w, "tensors", type, &inner));
    SP_TRY(read_tensor(inner, &t));
    mi_value *v = NULL;
    if (is_type) v = type_of_tensor(p, &t);
    else if (t.has_raw) SP_TRY(constant_tensor(p, &t, &v));
    else if ((v = new_value(p, MI_DTYPE))) v->dtype = t.meta.dtype;
    if (!v) return SP_NOMEM;
    a->items[a->n_items++] = v;
    return SP_OK;
}

static sp_status read_attribute_field(parser *p, sp_wire *w, uint32_t number, int type, bool is_type, size_t room, attribute *a)
{
    sp_wire inner;
    uint64_t u;
    switch (number) {
    case 1: return take_text(p, w, "name", type, &a->name);
    case 2:
    case 4: a->has_f = true; return take_float(w, type, &a->f);
    case 3:
        SP_TRY(sp__wire_take_number(w, "i", type, &u));
        a->has_i = true;
        a->i = (int64_t)u;
        return SP_OK;
    case 5: return take_text(p, w, "s", type, &a->s);
    case 8:
    case 9: return take_floats(p, w, number, type, a, room);
    case 10: return take_ints(p, w, type, a, room);
    case 11: {
        mi_value *v = new_value(p, MI_TEXT);
        if (!v) return SP_NOMEM;
        a->items[a->n_items++] = v;
        return take_text(p, w, "strings", type, &v->s);
    }
    case 12: return take_tensor(p, w, type, is_type, a);
    case 15: return take_text(p, w, "ref_attr_name", type, &a->old);
    case 16: return sp__wire_take_number(w, "type", type, &a->type);
    case 17: {
        SP_TRY(sp__wire_take_bytes(w, "values", type, &inner));
        mi_attr member;
        SP_TRY(read_attribute(p, inner, is_type, &member));
        a->members[a->n_values] = member;
        a->values[a->n_values++] = member.value;
        return SP_OK;
    }
    default: return sp__wire_skip(w, number, type);
    }
}

static mi_value *sequence(parser *p, int n, mi_value **items)
{
    mi_value *v = new_value(p, MI_TUPLE);
    if (!v) return NULL;
    v->n = n;
    v->items = items;
    return v;
}

/* A number of the type that the attribute names. */
static mi_value *typed(mi_value *v, uint64_t type)
{
    if (!v) return NULL;
    if (type == T_BOOL) v->kind = MI_BOOL;
    if (v->kind == MI_INT || v->kind == MI_FLOAT) v->dtype = sp__mindir_dtype(type);
    if (v->kind == MI_INT && (type == T_FLOAT || type == T_DOUBLE)) {
        v->kind = MI_FLOAT;
        v->f = (double)v->i;
    }
    return v;
}

static mi_value *single(parser *p, const attribute *a)
{
    if (a->type == T_STRING) {
        mi_value *v = a->n_items && a->items[0]->kind == MI_TEXT ? a->items[0] : new_value(p, MI_TEXT);
        if (v && !v->s) v->s = a->s ? a->s : "";
        return v;
    }
    if (a->n_items) return typed(a->items[0], a->type);
    mi_value *v = new_value(p, a->has_f || a->type == T_FLOAT || a->type == T_DOUBLE ? MI_FLOAT : MI_INT);
    if (v) {
        v->i = a->i;
        v->f = a->f;
    }
    return typed(v, a->type);
}

/* Up to 1.6: the form stands in a text, the parts in the plural fields. */
static mi_value *old_value(parser *p, const attribute *a)
{
    if (!strncmp(a->old, "none", 4)) return new_value(p, MI_NONE);
    if (!strncmp(a->old, "Monad", 5)) return new_value(p, MI_MONAD);
    if (strncmp(a->old, "shape:", 6) && strchr(a->old, '[')) {
        for (int i = 0; i < a->n_items; i++) typed(a->items[i], a->type);
        return sequence(p, a->n_items, a->items);
    }
    return single(p, a);
}

static mi_value *new_form(parser *p, const attribute *a, bool is_type)
{
    mi_value *v;
    switch (a->type) {
    case T_UMONAD:
    case T_IOMONAD: return new_value(p, MI_MONAD);
    case T_NONE: return new_value(p, MI_NONE);
    case T_DICT:
    case T_TUPLE:
    case T_LIST:
        v = sequence(p, a->n_values ? a->n_values : a->n_items, a->n_values ? a->values : a->items);
        if (v) v->is_type = is_type;
        return v;
    case T_SCALAR:
        if ((v = a->n_items ? a->items[0] : new_value(p, MI_NONE)) && v->kind == MI_TENSOR && v->meta) {
            v->meta->rank = 0;
            v->is_number = true;
        }
        return v;
    default:
        if (is_type && a->type >= T_PRIMITIVE && a->type <= T_UNION) {
            if ((v = new_value(p, MI_CLOSURE))) v->is_type = true;
            return v;
        }
        return single(p, a);
    }
}

static sp_status read_attribute(parser *p, sp_wire w, bool is_type, mi_attr *out)
{
    attribute a = {.name = ""};
    SP_CHECK(p->depth < MAX_NESTING, SP_FORMAT, "byte %zu: attributes nested deeper than %d", sp__wire_offset(&w), MAX_NESTING);
    /* Packed numbers take a byte at least. */
    size_t room = sp__wire_left(&w) + 1;
    int packed = count_fields(w, 8) + count_fields(w, 9) + count_fields(w, 10), texts = count_fields(w, 11) + count_fields(w, 12);
    int n_values = count_fields(w, 17);
    size_t n_items = packed ? room : (size_t)texts;
    a.items = alloc(p, n_items, sizeof *a.items);
    a.values = alloc(p, (size_t)n_values, sizeof *a.values);
    a.members = alloc(p, (size_t)n_values, sizeof *a.members);
    if (!a.items || !a.values || !a.members) return SP_NOMEM;
    p->depth++;
    sp_status status = SP_OK;
    while (status == SP_OK && sp__wire_more(&w)) {
        uint32_t number;
        int type;
        status = sp__wire_field(&w, &number, &type);
        if (status == SP_OK) status = read_attribute_field(p, &w, number, type, is_type, n_items, &a);
    }
    p->depth--;
    if (status != SP_OK) return status;
    out->name = a.name;
    /* The type of a node has no name before 1.7, only the form. */
    if (a.old && !strncmp(a.old, "shape:", 6)) out->name = "shape";
    out->value = a.old && *a.old ? old_value(p, &a) : new_form(p, &a, is_type);
    return out->value ? SP_OK : SP_NOMEM;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static size_t hash_text(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++) h = (h ^ (uint8_t)*s) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

static mi_name *name_slot(const mi_model *m, const char *text)
{
    size_t at = hash_text(text) & (size_t)(m->names_capacity - 1);
    while (m->names[at].text && strcmp(m->names[at].text, text)) at = (at + 1) & (size_t)(m->names_capacity - 1);
    return &m->names[at];
}

const mi_name *sp__mindir_find(const mi_model *m, const char *text)
{
    const mi_name *n = m->names_capacity ? name_slot(m, text) : NULL;
    return n && n->text ? n : NULL;
}

static sp_status add_name(parser *p, const mi_name *name)
{
    char shown[SP_NAME_SHOWN];
    mi_name *at = name_slot(p->m, name->text);
    SP_CHECK(!at->text, SP_FORMAT, "the name '%s' is given twice", sp__name_shown(name->text, strlen(name->text), shown));
    *at = *name;
    return SP_OK;
}

static sp_status need_name(parser *p, const mi_function *f, const char *text, const mi_name **out)
{
    char shown[SP_NAME_SHOWN], where[SP_NAME_SHOWN];
    *out = sp__mindir_find(p->m, text);
    SP_CHECK(*out, SP_FORMAT, "function '%s' uses '%s', which nothing in the file is called",
             sp__name_shown(f->name, strlen(f->name), where), sp__name_shown(text, strlen(text), shown));
    return SP_OK;
}

/* --- nodes and functions ----------------------------------------------------------------------------------------- */

static sp_status read_node_attribute(parser *p, sp_wire inner, bool constant, mi_node *n)
{
    mi_attr a;
    /* Which form it has is known only after its name. */
    mi_attr named;
    SP_TRY(read_attribute(p, inner, !constant, &named));
    if (!constant && strcmp(named.name, "shape")) SP_TRY(read_attribute(p, inner, false, &a));
    else a = named;
    if (constant) n->constant = a.value;
    else if (!strcmp(a.name, "shape")) n->shape = a.value->is_type || a.value->kind == MI_TENSOR ? a.value : NULL;
    else n->attrs[n->n_attrs++] = a;
    return SP_OK;
}

static sp_status read_node(parser *p, sp_wire w, mi_node *n)
{
    uint32_t number;
    int type;
    sp_wire again = w, inner;
    const char *output = NULL, *name = NULL;
    int n_in = count_fields(w, 1), n_attrs = count_fields(w, 5);
    n->in_names = alloc(p, (size_t)n_in, sizeof *n->in_names);
    n->in = alloc(p, (size_t)n_in, sizeof *n->in);
    n->attrs = alloc(p, (size_t)n_attrs, sizeof *n->attrs);
    if (!n->in_names || !n->in || !n->attrs) return SP_NOMEM;
    while (sp__wire_more(&w)) {
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(take_text(p, &w, "input", type, &n->in_names[n->n_in++]));
        else if (number == 2 && !output) SP_TRY(take_text(p, &w, "output", type, &output));
        else if (number == 3) SP_TRY(take_text(p, &w, "name", type, &name));
        else if (number == 4) SP_TRY(take_text(p, &w, "op_type", type, &n->type));
        else if (number == 7 && type == SP_WIRE_BYTES) SP_TRY(take_text(p, &w, "domain", type, &n->scope));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    n->name = output ? output : name;
    SP_CHECK(n->name && *n->name && n->type && *n->type, SP_FORMAT, "byte %zu: a node without output or op_type",
             sp__wire_offset(&again));
    while (sp__wire_more(&again)) {
        SP_TRY(sp__wire_field(&again, &number, &type));
        if (number != 5) {
            SP_TRY(sp__wire_skip(&again, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&again, "attribute", type, &inner));
        SP_TRY(read_node_attribute(p, inner, !strcmp(n->type, "Constant"), n));
    }
    return SP_OK;
}

static sp_status read_value_info(parser *p, sp_wire w, const char **name, mi_value **out)
{
    *name = NULL;
    *out = NULL;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        tensor_proto t;
        mi_attr a;
        const char *denotation = "";
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case 1: SP_TRY(take_text(p, &w, "name", type, name)); break;
        case 2:
            SP_TRY(sp__wire_take_bytes(&w, "tensor", type, &inner));
            SP_TRY(read_tensor(inner, &t));
            if (!*out && !(*out = type_of_tensor(p, &t))) return SP_NOMEM;
            break;
        case 4:
            SP_TRY(take_text(p, &w, "denotation", type, &denotation));
            if (!*out && strstr(denotation, "Monad") && !(*out = new_value(p, MI_MONAD))) return SP_NOMEM;
            break;
        case 5:
            SP_TRY(sp__wire_take_bytes(&w, "attr_info", type, &inner));
            SP_TRY(read_attribute(p, inner, true, &a));
            *out = a.value;
            break;
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    SP_CHECK(*name && **name, SP_FORMAT, "byte %zu: an input or output without a name", sp__wire_offset(&w));
    return SP_OK;
}

static sp_status read_weight(parser *p, sp_wire w, mi_input *in)
{
    tensor_proto t;
    sp_wire again = w;
    SP_TRY(read_tensor(w, &t));
    while (sp__wire_more(&again)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&again, &number, &type));
        if (number == 7) SP_TRY(take_text(p, &again, "name", type, &in->name));
        else SP_TRY(sp__wire_skip(&again, number, type));
    }
    SP_CHECK(in->name && *in->name, SP_FORMAT, "byte %zu: a weight without a name", sp__wire_offset(&w));
    const char *colon = strchr(in->name, ':');
    in->weight = sp_bundle_find(p->m->weights, colon && colon[1] ? colon + 1 : in->name);
    SP_CHECK(in->weight >= 0, SP_FORMAT, "weight '%s' has no contents", in->name);
    if (!(in->type = type_of_tensor(p, &t))) return SP_NOMEM;
    return SP_OK;
}

static sp_status read_function_fields(parser *p, sp_wire w, mi_function *f, bool weights)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 2 && !weights) {
            SP_TRY(take_text(p, &w, "name", type, &f->name));
            continue;
        }
        bool wanted = weights ? number == 3 : number == 1 || number == 5 || number == 6;
        if (!wanted) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "a part of a function", type, &inner));
        if (number == 1) SP_TRY(read_node(p, inner, &f->nodes[f->n_nodes++]));
        if (number == 3) SP_TRY(read_weight(p, inner, &f->inputs[f->n_inputs++]));
        if (number == 5) {
            mi_input *in = &f->inputs[f->n_inputs++];
            in->weight = -1;
            SP_TRY(read_value_info(p, inner, &in->name, &in->type));
        }
        if (number == 6) {
            SP_TRY(read_value_info(p, inner, &f->output_names[f->n_outputs], &f->output_types[f->n_outputs]));
            f->n_outputs++;
        }
    }
    return SP_OK;
}

static sp_status read_function(parser *p, sp_wire w, bool main)
{
    mi_model *m = p->m;
    mi_function *f = &m->functions[main ? 0 : m->n_functions];
    size_t n_nodes = (size_t)count_fields(w, 1), n_inputs = (size_t)(count_fields(w, 5) + count_fields(w, 3)),
           n_outputs = (size_t)count_fields(w, 6);
    f->index = (int)(f - m->functions);
    if (!main) m->n_functions++;
    f->nodes = alloc(p, n_nodes, sizeof *f->nodes);
    f->inputs = alloc(p, n_inputs, sizeof *f->inputs);
    f->output_names = alloc(p, n_outputs, sizeof *f->output_names);
    f->output_types = alloc(p, n_outputs, sizeof *f->output_types);
    f->outputs = alloc(p, n_outputs, sizeof *f->outputs);
    f->node_of_slot = alloc(p, n_inputs + n_nodes, sizeof *f->node_of_slot);
    if (!f->nodes || !f->inputs || !f->output_names || !f->output_types || !f->outputs || !f->node_of_slot) return SP_NOMEM;
    SP_TRY(read_function_fields(p, w, f, false));
    f->n_args = f->n_inputs;
    if (main) SP_TRY(read_function_fields(p, w, f, true));
    SP_CHECK(f->name && *f->name, SP_FORMAT, "byte %zu: a function without a name", sp__wire_offset(&w));
    SP_CHECK(f->n_outputs > 0, SP_FORMAT, "function '%s' has no output", f->name);
    m->n_names += 1 + f->n_inputs + f->n_nodes;
    return SP_OK;
}

static sp_status read_primitive(parser *p, sp_wire w, mi_primitive *out)
{
    out->attrs = alloc(p, (size_t)count_fields(w, 3), sizeof *out->attrs);
    if (!out->attrs) return SP_NOMEM;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(take_text(p, &w, "name", type, &out->name));
        else if (number == 2) SP_TRY(take_text(p, &w, "op_type", type, &out->type));
        else if (number == 3) {
            SP_TRY(sp__wire_take_bytes(&w, "attribute", type, &inner));
            SP_TRY(read_attribute(p, inner, false, &out->attrs[out->n_attrs++]));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    SP_CHECK(out->name && out->type, SP_FORMAT, "byte %zu: a primitive without name or op_type", sp__wire_offset(&w));
    p->m->n_names++;
    return SP_OK;
}

static sp_status read_model(parser *p, sp_wire w)
{
    mi_model *m = p->m;
    int n_main = count_fields(w, 7), n_functions = 1 + count_fields(w, 8);
    SP_CHECK(n_main == 1, SP_FORMAT, "has %d main graphs, a model has one", n_main);
    SP_CHECK(n_functions <= MAX_FUNCTIONS, SP_FORMAT, "has %d functions, at most %d are read", n_functions, MAX_FUNCTIONS);
    m->functions = alloc(p, (size_t)n_functions, sizeof *m->functions);
    m->primitives = alloc(p, (size_t)count_fields(w, 12), sizeof *m->primitives);
    if (!m->functions || !m->primitives) return SP_NOMEM;
    m->n_functions = 1;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 7 || number == 8) {
            SP_TRY(sp__wire_take_bytes(&w, "graph", type, &inner));
            SP_TRY(read_function(p, inner, number == 7));
        } else if (number == 12) {
            SP_TRY(sp__wire_take_bytes(&w, "primitives", type, &inner));
            SP_TRY(read_primitive(p, inner, &m->primitives[m->n_primitives++]));
        } else if (number == 13) {
            SP_TRY(sp__wire_take_number(&w, "mind_ir_version", type, &m->version));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

/* --- resolving --------------------------------------------------------------------------------------------------- */

static sp_status name_everything(parser *p)
{
    mi_model *m = p->m;
    for (m->names_capacity = 64; m->names_capacity < 2 * m->n_names;) m->names_capacity *= 2;
    if (!(m->names = alloc(p, (size_t)m->names_capacity, sizeof *m->names))) return SP_NOMEM;
    for (int i = 0; i < m->n_primitives; i++) {
        mi_primitive *prim = &m->primitives[i];
        prim->rule = sp__mindir_rule(p->arena, prim->type);
        SP_TRY(add_name(p, &(mi_name){.text = prim->name, .where = MI_AT_PRIMITIVE, .primitive = prim}));
    }
    for (int i = 0; i < m->n_functions; i++) {
        mi_function *f = &m->functions[i];
        SP_TRY(add_name(p, &(mi_name){.text = f->name, .where = MI_AT_FUNCTION, .fn = f}));
        for (int k = 0; k < f->n_inputs; k++)
            SP_TRY(add_name(p, &(mi_name){.text = f->inputs[k].name, .where = MI_AT_VALUE, .owner = f, .slot = k}));
        for (int k = 0; k < f->n_nodes; k++) {
            mi_node *n = &f->nodes[k];
            n->slot = f->n_inputs + k;
            f->node_of_slot[n->slot] = n;
            mi_name name = {.text = n->name, .where = MI_AT_VALUE, .owner = f, .slot = n->slot};
            if (n->constant) {
                name.where = MI_AT_CONSTANT;
                name.constant = n->constant;
            }
            SP_TRY(add_name(p, &name));
        }
    }
    return SP_OK;
}

static sp_status resolve_callee(parser *p, const mi_function *f, mi_node *n)
{
    if (n->constant) return SP_OK;
    if (strncmp(n->type, "REF::", 5)) { /* up to 1.6: the operator itself */
        mi_primitive *prim = alloc(p, 1, sizeof *prim);
        if (!prim) return SP_NOMEM;
        *prim = (mi_primitive){n->type, n->type, n->n_attrs, n->attrs, sp__mindir_rule(p->arena, n->type)};
        n->primitive = prim;
        return SP_OK;
    }
    if (!strncmp(n->type, "REF::MetaFuncGraph::", 20) || !strncmp(n->type, "REF::ClassType::", 16)) {
        mi_primitive *prim = alloc(p, 1, sizeof *prim);
        if (!prim) return SP_NOMEM;
        *prim = (mi_primitive){.name = n->type, .type = n->type + 5};
        n->primitive = prim;
        return SP_OK;
    }
    SP_TRY(need_name(p, f, n->type + 5, &n->callee));
    if (n->callee->where == MI_AT_PRIMITIVE) n->primitive = n->callee->primitive;
    return SP_OK;
}

static void note_need(mi_model *m, const mi_function *f, const mi_name *name)
{
    if (name->where == MI_AT_VALUE && name->owner != f) m->needs[(size_t)f->index * (size_t)m->n_functions + (size_t)name->owner->index] = 1;
}

static sp_status resolve_all(parser *p)
{
    mi_model *m = p->m;
    for (int i = 0; i < m->n_functions; i++) {
        mi_function *f = &m->functions[i];
        for (int k = 0; k < f->n_nodes; k++) {
            mi_node *n = &f->nodes[k];
            SP_TRY(resolve_callee(p, f, n));
            if (n->callee) note_need(m, f, n->callee);
            for (int j = 0; j < n->n_in; j++) {
                SP_TRY(need_name(p, f, n->in_names[j], &n->in[j]));
                SP_CHECK(n->in[j]->where != MI_AT_PRIMITIVE, SP_FORMAT,
                         "node '%s' takes the primitive '%s' as a value, which is not supported", n->name, n->in_names[j]);
                note_need(m, f, n->in[j]);
            }
        }
        for (int k = 0; k < f->n_outputs; k++) {
            SP_TRY(need_name(p, f, f->output_names[k], &f->outputs[k]));
            SP_CHECK(f->outputs[k]->where != MI_AT_PRIMITIVE, SP_FORMAT, "function '%s' returns a primitive", f->name);
            note_need(m, f, f->outputs[k]);
        }
    }
    return SP_OK;
}

/* needs and reaches of every function, with those of the functions it mentions. */
static void close_over(mi_model *m, const uint8_t *mentions, uint8_t *reaches)
{
    size_t n = (size_t)m->n_functions;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 0; f < n; f++)
            for (size_t g = 0; g < n; g++) {
                if (!mentions[f * n + g]) continue;
                for (size_t k = 0; k < n; k++) {
                    bool need = m->needs[g * n + k] && k != f && !m->needs[f * n + k];
                    bool reach = (reaches[g * n + k] || k == g) && !reaches[f * n + k];
                    if (need) m->needs[f * n + k] = 1;
                    if (reach) reaches[f * n + k] = 1;
                    changed |= need || reach;
                }
            }
    }
    for (size_t f = 0; f < n; f++) m->functions[f].recursive = reaches[f * n + f];
}

static void note_mention(const mi_model *m, uint8_t *mentions, const mi_function *f, const mi_name *name)
{
    if (name && name->where == MI_AT_FUNCTION) mentions[(size_t)f->index * (size_t)m->n_functions + (size_t)name->fn->index] = 1;
}

static sp_status resolve(parser *p)
{
    mi_model *m = p->m;
    size_t cells = (size_t)m->n_functions * (size_t)m->n_functions;
    if (!(m->needs = alloc(p, cells, 1))) return SP_NOMEM;
    SP_TRY(name_everything(p));
    SP_TRY(resolve_all(p));
    uint8_t *mentions = alloc(p, cells, 1), *reaches = alloc(p, cells, 1);
    if (!mentions || !reaches) return SP_NOMEM;
    for (int i = 0; i < m->n_functions; i++) {
        const mi_function *f = &m->functions[i];
        for (int k = 0; k < f->n_nodes; k++) {
            note_mention(m, mentions, f, f->nodes[k].callee);
            for (int j = 0; j < f->nodes[k].n_in; j++) note_mention(m, mentions, f, f->nodes[k].in[j]);
        }
        for (int k = 0; k < f->n_outputs; k++) note_mention(m, mentions, f, f->outputs[k]);
    }
    close_over(m, mentions, reaches);
    return SP_OK;
}

static bool orders_only(const mi_node *n)
{
    if (!n->primitive || !n->primitive->rule) return false;
    mi_control c = sp__mindir_control(n->primitive->rule);
    return c == MI_FIRST || c == MI_STATE || c == MI_MAKE_TUPLE;
}

/* A function whose result is that of a call, perhaps through nodes that return their first input, ends with this call: loops are
 * made that way. Nothing that does more than ordering effects may come after it. */
static sp_status find_tail(parser *p, mi_function *f)
{
    const mi_name *at = f->outputs[0];
    const mi_node *n = NULL;
    if (f->n_outputs != 1) return SP_OK;
    for (int steps = 0; steps <= f->n_nodes; steps++) {
        if (at->where != MI_AT_VALUE || at->owner != f || !(n = f->node_of_slot[at->slot])) return SP_OK;
        if (!n->primitive) break;
        if (!n->primitive->rule || sp__mindir_control(n->primitive->rule) != MI_FIRST || n->n_in < 1) return SP_OK;
        at = n->in[0];
    }
    if (!n || n->primitive || n->constant) return SP_OK;
    uint8_t *after = alloc(p, (size_t)f->n_nodes, 1);
    if (!after) return SP_NOMEM;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < f->n_nodes; i++) {
            const mi_node *user = &f->nodes[i];
            for (int k = 0; k < user->n_in && !after[i]; k++) {
                const mi_name *in = user->in[k];
                if (in->where != MI_AT_VALUE || in->owner != f || in->slot < f->n_inputs) continue;
                if (in->slot != n->slot && !after[in->slot - f->n_inputs]) continue;
                if (!orders_only(user)) return SP_OK;
                after[i] = 1;
                changed = true;
            }
        }
    }
    f->tail = n;
    f->after_tail = after;
    return SP_OK;
}

/* All that cannot be done, in one message. */
static sp_status check_primitives(const mi_model *m)
{
    sp__text t = {0};
    int n = 0, shown = 0;
    for (int i = 0; i < m->n_functions; i++)
        for (int k = 0; k < m->functions[i].n_nodes; k++) {
            const mi_node *node = &m->functions[i].nodes[k];
            if (!node->primitive || node->primitive->rule) continue;
            if (n++ > 100) continue;
            sp__text_put(&t, "%s%s (node '%s')", shown++ ? ", " : "", node->primitive->type, node->name);
        }
    if (!n) return SP_OK;
    sp_status status = sp__fail(SP_FORMAT, "uses %d operator%s that spore does not have: %s", n, n == 1 ? "" : "s",
                                t.failed || !t.data ? "?" : t.data);
    sp__free(t.data);
    return status;
}

sp_status sp__mindir_parse(const sp_source *s, sp_model *m, mi_model *out)
{
    parser p = {.m = out, .arena = &m->arena};
    out->model = m;
    SP_TRY(read_model(&p, sp__wire_open(s->data, s->bytes)));
    SP_TRY(resolve(&p));
    for (int i = 0; i < out->n_functions; i++) SP_TRY(find_tail(&p, &out->functions[i]));
    return check_primitives(out);
}

void sp__mindir_free(mi_model *m)
{
    for (int i = 0; i < m->n_tensors; i++) sp_tensor_release(m->tensors[i]);
    sp__free(m->tensors);
}
