/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_attrs.c - tensors and attributes of MindIR files.
 *   AttributeProto 1 name | 2 f | 3 i | 4 d | 5 s | 8 floats | 9 doubles | 10 ints | 11 strings | 12 tensors |
 *                  15 ref_attr_name (before 1.7) | 16 type | 17 values | 18 seq_info
 * Nothing here is deeper than MP_NESTING_MAX, whatever the file says. */
#include <string.h>

#include "formats/mindir/mindir_parse.h"

sp_dtype sp__mindir_dtype(uint64_t number)
{
    static const int8_t known[] = {SP_DTYPE_NONE, SP_DTYPE_F32,  SP_DTYPE_U8,  SP_DTYPE_I8,   SP_DTYPE_U16,
                                   SP_DTYPE_I16,  SP_DTYPE_I32,  SP_DTYPE_I64, SP_DTYPE_NONE, SP_DTYPE_BOOL,
                                   SP_DTYPE_F16,  SP_DTYPE_F64,  SP_DTYPE_U32, SP_DTYPE_U64,  SP_DTYPE_C64,
                                   SP_DTYPE_C128, SP_DTYPE_BF16, SP_DTYPE_F64};
    return number < sizeof known ? (sp_dtype)known[number] : SP_DTYPE_NONE;
}

/* --- fields ------------------------------------------------------------------------------------------------------ */

sp_status sp__mindir_parse_take_text(sp_mindir_parser *p, sp_wire *w, const char *what, int type, const char **out)
{
    sp_wire inner;
    SP_TRY(sp__wire_take_bytes(w, what, type, &inner));
    size_t bytes = sp__wire_left(&inner);
    SP_CHECK(bytes == 0 || memchr(inner.at, 0, bytes) == NULL, SP_FORMAT, "byte %zu: %s holds a NUL",
             sp__wire_offset(&inner), what);
    char *text = sp__mindir_parse_alloc(p, bytes + 1, 1);
    if (!text) return SP_NOMEM;
    if (bytes) memcpy(text, inner.at, bytes);
    *out = text;
    return SP_OK;
}

int sp__mindir_parse_count_fields(sp_wire w, uint32_t wanted)
{
    int n = 0;
    uint32_t number;
    int type;
    while (sp__wire_more(&w) && sp__wire_field(&w, &number, &type) == SP_OK && sp__wire_skip(&w, number, type) == SP_OK)
        n += number == wanted;
    return n;
}

sp_mindir_value *sp__mindir_parse_new_value(sp_mindir_parser *p, sp_mindir_kind kind)
{
    sp_mindir_value *v = sp__mindir_parse_alloc(p, 1, sizeof *v);
    if (v) v->kind = kind;
    return v;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

static sp_status read_dims(sp_wire *w, int type, sp_mindir_parsed *t)
{
    if (type == SP_WIRE_VARINT) {
        uint64_t v;
        SP_TRY(sp__wire_varint(w, &v));
        SP_CHECK(t->meta.rank < SP_RANK_MAX, SP_FORMAT, "byte %zu: more than %d dimensions", sp__wire_offset(w),
                 SP_RANK_MAX);
        t->meta.dims[t->meta.rank++] = (int64_t)v;
        return SP_OK;
    }
    sp_wire inner;
    SP_TRY(sp__wire_take_bytes(w, "dims", type, &inner));
    while (sp__wire_more(&inner)) SP_TRY(read_dims(&inner, SP_WIRE_VARINT, t));
    return SP_OK;
}

sp_status sp__mindir_parse_read_tensor(sp_wire w, sp_mindir_parsed *t)
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
        } else if (number == 13) SP_TRY(sp__wire_take_bytes(&w, "ref_key", type, &t->ref_key));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    t->meta.dtype = sp__mindir_dtype(t->type);
    return SP_OK;
}

/* The description of a tensor: unknown dimensions are -1, an unknown rank is written as one dimension of -2. */
sp_mindir_value *sp__mindir_parse_type_of_tensor(sp_mindir_parser *p, const sp_mindir_parsed *t)
{
    sp_mindir_value *v = sp__mindir_parse_new_value(p, SP_MINDIR_TENSOR);
    if (!v || !(v->meta = sp__mindir_parse_alloc(p, 1, sizeof *v->meta))) return NULL;
    v->is_type = true;
    v->dtype = t->meta.dtype;
    *v->meta = t->meta;
    for (int i = 0; i < v->meta->rank; i++)
        if (v->meta->dims[i] < -1) v->meta->rank = -1;
    return v;
}

static sp_status constant_tensor(sp_mindir_parser *p, const sp_mindir_parsed *t, sp_mindir_value **out)
{
    size_t bytes;
    sp_mindir_model *m = p->m;
    SP_CHECK(t->meta.dtype != SP_DTYPE_NONE, SP_FORMAT, "a constant of data_type %llu, which is not supported",
             (unsigned long long)t->type);
    for (int i = 0; i < t->meta.rank; i++)
        SP_CHECK(t->meta.dims[i] >= 0, SP_FORMAT, "dimension %d of a constant is %lld", i, (long long)t->meta.dims[i]);
    SP_TRY(sp__meta_bytes(&t->meta, &bytes));
    SP_CHECK(bytes == sp__wire_left(&t->raw), SP_FORMAT, "a constant has %zu bytes, its shape needs %zu",
             sp__wire_left(&t->raw), bytes);
    if (m->n_tensors == m->tensors_capacity) {
        int more = m->tensors_capacity ? 2 * m->tensors_capacity : 32;
        sp_tensor **grown =
            sp__realloc(m->tensors, (size_t)m->tensors_capacity * sizeof *grown, (size_t)more * sizeof *grown);
        if (!grown) return SP_NOMEM;
        m->tensors = grown;
        m->tensors_capacity = more;
    }
    sp_mindir_value *v = sp__mindir_parse_new_value(p, SP_MINDIR_TENSOR);
    if (!v) return SP_NOMEM;
    SP_TRY(sp_tensor_create_from(t->meta.dtype, t->meta.rank, t->meta.dims, t->raw.at, &v->t));
    m->tensors[m->n_tensors++] = v->t;
    *out = v;
    return SP_OK;
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

enum {
    T_FLOAT = 1,
    T_STRING = 8,
    T_BOOL = 9,
    T_DOUBLE = 11,
    T_TENSORS = 19,
    T_TUPLE = 20,
    T_LIST = 21,
    T_DICT = 22,
    T_UMONAD = 23,
    T_IOMONAD = 24,
    T_NONE = 25,
    T_PRIMITIVE = 26,
    T_UNION = 29,
    T_CSR = 30,
    T_COO = 31,
    T_SCALAR = 39
};

typedef struct {
    const char *name, *s, *old; /* old: ref_attr_name */
    uint64_t type;
    int64_t i;
    double f;
    bool has_i, has_f;
    int n_items; /* in ints, floats, strings, tensors, in the order of the file */
    sp_mindir_value **items;
    int n_values;
    sp_mindir_value **values;
    sp_mindir_attr *members;
} attribute;

static sp_status add_number(sp_mindir_parser *p, attribute *a, sp_mindir_kind kind, int64_t i, double f)
{
    sp_mindir_value *v = sp__mindir_parse_new_value(p, kind);
    if (!v) return SP_NOMEM;
    v->i = i;
    v->f = f;
    a->items[a->n_items++] = v;
    return SP_OK;
}

static sp_status take_ints(sp_mindir_parser *p, sp_wire *w, int type, attribute *a, size_t room)
{
    sp_wire inner = *w;
    uint64_t v;
    if (type == SP_WIRE_BYTES) SP_TRY(sp__wire_take_bytes(w, "ints", type, &inner));
    else {
        SP_TRY(sp__wire_take_number(w, "ints", type, &v));
        return add_number(p, a, SP_MINDIR_INT, (int64_t)v, 0);
    }
    while (sp__wire_more(&inner)) {
        SP_TRY(sp__wire_varint(&inner, &v));
        SP_CHECK((size_t)a->n_items < room, SP_FORMAT, "byte %zu: too many numbers", sp__wire_offset(&inner));
        SP_TRY(add_number(p, a, SP_MINDIR_INT, (int64_t)v, 0));
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

static sp_status take_floats(sp_mindir_parser *p, sp_wire *w, uint32_t number, int type, attribute *a, size_t room)
{
    double f;
    if (type != SP_WIRE_BYTES) {
        SP_TRY(take_float(w, type, &f));
        return add_number(p, a, SP_MINDIR_FLOAT, 0, f);
    }
    sp_wire inner;
    SP_TRY(sp__wire_take_bytes(w, "floats", type, &inner));
    while (sp__wire_more(&inner)) {
        SP_TRY(take_float(&inner, number == 8 ? SP_WIRE_FIXED32 : SP_WIRE_FIXED64, &f));
        SP_CHECK((size_t)a->n_items < room, SP_FORMAT, "byte %zu: too many numbers", sp__wire_offset(&inner));
        SP_TRY(add_number(p, a, SP_MINDIR_FLOAT, 0, f));
    }
    return SP_OK;
}

static sp_status take_tensor(sp_mindir_parser *p, sp_wire *w, int type, bool is_type, attribute *a)
{
    sp_wire inner;
    sp_mindir_parsed t;
    SP_TRY(sp__wire_take_bytes(w, "tensors", type, &inner));
    SP_TRY(sp__mindir_parse_read_tensor(inner, &t));
    sp_mindir_value *v = NULL;
    if (is_type) v = sp__mindir_parse_type_of_tensor(p, &t);
    else if (t.has_raw) SP_TRY(constant_tensor(p, &t, &v));
    else if ((v = sp__mindir_parse_new_value(p, SP_MINDIR_DTYPE))) v->dtype = t.meta.dtype;
    if (!v) return SP_NOMEM;
    a->items[a->n_items++] = v;
    return SP_OK;
}

static sp_status read_attribute_field(sp_mindir_parser *p, sp_wire *w, uint32_t number, int type, bool is_type,
                                      size_t room, attribute *a)
{
    sp_wire inner;
    uint64_t u;
    switch (number) {
    case 1: return sp__mindir_parse_take_text(p, w, "name", type, &a->name);
    case 2:
    case 4: a->has_f = true; return take_float(w, type, &a->f);
    case 3:
        SP_TRY(sp__wire_take_number(w, "i", type, &u));
        a->has_i = true;
        a->i = (int64_t)u;
        return SP_OK;
    case 5: return sp__mindir_parse_take_text(p, w, "s", type, &a->s);
    case 8:
    case 9: return take_floats(p, w, number, type, a, room);
    case 10: return take_ints(p, w, type, a, room);
    case 11: {
        sp_mindir_value *v = sp__mindir_parse_new_value(p, SP_MINDIR_TEXT);
        if (!v) return SP_NOMEM;
        a->items[a->n_items++] = v;
        return sp__mindir_parse_take_text(p, w, "strings", type, &v->s);
    }
    case 12: return take_tensor(p, w, type, is_type, a);
    case 15: return sp__mindir_parse_take_text(p, w, "ref_attr_name", type, &a->old);
    case 16: return sp__wire_take_number(w, "type", type, &a->type);
    case 17: {
        SP_TRY(sp__wire_take_bytes(w, "values", type, &inner));
        sp_mindir_attr member;
        SP_TRY(sp__mindir_parse_read_attribute(p, inner, is_type, &member));
        a->members[a->n_values] = member;
        a->values[a->n_values++] = member.value;
        return SP_OK;
    }
    default: return sp__wire_skip(w, number, type);
    }
}

static sp_mindir_value *sequence(sp_mindir_parser *p, int n, sp_mindir_value **items)
{
    sp_mindir_value *v = sp__mindir_parse_new_value(p, SP_MINDIR_TUPLE);
    if (!v) return NULL;
    v->n = n;
    v->items = items;
    return v;
}

/* A number of the type that the attribute names. */
static sp_mindir_value *typed(sp_mindir_value *v, uint64_t type)
{
    if (!v) return NULL;
    if (type == T_BOOL) v->kind = SP_MINDIR_BOOL;
    if (v->kind == SP_MINDIR_INT || v->kind == SP_MINDIR_FLOAT) v->dtype = sp__mindir_dtype(type);
    if (v->kind == SP_MINDIR_INT && (type == T_FLOAT || type == T_DOUBLE)) {
        v->kind = SP_MINDIR_FLOAT;
        v->f = (double)v->i;
    }
    return v;
}

static sp_mindir_value *single(sp_mindir_parser *p, const attribute *a)
{
    if (a->type == T_STRING) {
        sp_mindir_value *v = a->n_items && a->items[0]->kind == SP_MINDIR_TEXT
                                 ? a->items[0]
                                 : sp__mindir_parse_new_value(p, SP_MINDIR_TEXT);
        if (v && !v->s) v->s = a->s ? a->s : "";
        return v;
    }
    if (a->n_items) return typed(a->items[0], a->type);
    sp_mindir_value *v = sp__mindir_parse_new_value(
        p, a->has_f || a->type == T_FLOAT || a->type == T_DOUBLE ? SP_MINDIR_FLOAT : SP_MINDIR_INT);
    if (v) {
        v->i = a->i;
        v->f = a->f;
    }
    return typed(v, a->type);
}

/* Up to 1.6: the form stands in a text, the parts in the plural fields. */
static sp_mindir_value *old_value(sp_mindir_parser *p, const attribute *a)
{
    if (!strncmp(a->old, "none", 4)) return sp__mindir_parse_new_value(p, SP_MINDIR_NONE);
    if (!strncmp(a->old, "Monad", 5)) return sp__mindir_parse_new_value(p, SP_MINDIR_MONAD);
    if (strncmp(a->old, "shape:", 6) && strchr(a->old, '[')) {
        for (int i = 0; i < a->n_items; i++) typed(a->items[i], a->type);
        return sequence(p, a->n_items, a->items);
    }
    return single(p, a);
}

static sp_mindir_value *new_form(sp_mindir_parser *p, const attribute *a, bool is_type)
{
    sp_mindir_value *v;
    switch (a->type) {
    case T_UMONAD:
    case T_IOMONAD: return sp__mindir_parse_new_value(p, SP_MINDIR_MONAD);
    case T_NONE: return sp__mindir_parse_new_value(p, SP_MINDIR_NONE);
    case T_DICT:
    case T_TUPLE:
    case T_CSR:
    case T_COO:
    case T_LIST:
        v = sequence(p, a->n_values ? a->n_values : a->n_items, a->n_values ? a->values : a->items);
        if (v) {
            v->is_type = is_type;
            v->is_list = a->type == T_LIST;
            v->sparse = a->type == T_CSR ? 'C' : a->type == T_COO ? 'O' : 0;
        }
        return v;
    case T_SCALAR:
        if ((v = a->n_items ? a->items[0] : sp__mindir_parse_new_value(p, SP_MINDIR_NONE)) &&
            v->kind == SP_MINDIR_TENSOR && v->meta) {
            v->meta->rank = 0;
            v->is_number = true;
        }
        return v;
    default:
        if (is_type && a->type >= T_PRIMITIVE && a->type <= T_UNION) {
            if ((v = sp__mindir_parse_new_value(p, SP_MINDIR_CLOSURE))) v->is_type = true;
            return v;
        }
        return single(p, a);
    }
}

sp_status sp__mindir_parse_read_attribute(sp_mindir_parser *p, sp_wire w, bool is_type, sp_mindir_attr *out)
{
    attribute a = {.name = ""};
    SP_CHECK(p->depth < MP_NESTING_MAX, SP_FORMAT, "byte %zu: attributes nested deeper than %d", sp__wire_offset(&w),
             MP_NESTING_MAX);
    /* Packed numbers take a byte at least. */
    size_t room = sp__wire_left(&w) + 1;
    int packed = sp__mindir_parse_count_fields(w, 8) + sp__mindir_parse_count_fields(w, 9) +
                 sp__mindir_parse_count_fields(w, 10),
        texts = sp__mindir_parse_count_fields(w, 11) + sp__mindir_parse_count_fields(w, 12);
    int n_values = sp__mindir_parse_count_fields(w, 17);
    size_t n_items = packed ? room : (size_t)texts;
    a.items = sp__mindir_parse_alloc(p, n_items, sizeof *a.items);
    a.values = sp__mindir_parse_alloc(p, (size_t)n_values, sizeof *a.values);
    a.members = sp__mindir_parse_alloc(p, (size_t)n_values, sizeof *a.members);
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
