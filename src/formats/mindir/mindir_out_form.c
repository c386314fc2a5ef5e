/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out_form.c - the result of a network as MindIR has it: tuples and lists in each other, numbers, texts and None, out of the
 * tensors of the recorded function and a form (sp_model_form) that says how they belong together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "formats/mindir/mindir_out.h"

enum {
    NESTING_MAX = 32,
    SP_MINDIR_OUT_LIST = 21,
    SP_MINDIR_OUT_CSR = 30,
    SP_MINDIR_OUT_COO = 31,
    SP_MINDIR_OUT_SCALAR = 39
};

typedef struct {
    sp_mindir_out *o;
    const sp_function *f;
    const char *form, *at;
    int next; /* result of the function */
    int depth;
} reader;

/* One part of the result: its name, and the fields of the AttributeProto that tells its type. */
typedef struct {
    sp_mindir_id name;
    sp_mindir_out_msg type;
    const char *denotation; /* NULL: a tensor */
} part;

static sp_status refuse(const reader *r)
{
    return sp__fail(SP_VALUE, "the form of the results, \"%s\", cannot be understood at character %d", r->form,
                    (int)(r->at - r->form));
}

static void put_copy(sp_mindir_out_msg *m, uint32_t field, const char *name, const sp_mindir_out_msg *type)
{
    sp_mindir_out_msg a = {.status = type->status};
    if (name) sp__mindir_out_put_text(&a, 1, name);
    if (a.status == SP_OK && type->out.bytes) a.status = sp__wire_put(&a.out, type->out.data, type->out.bytes);
    sp__mindir_out_put_message(m, field, &a);
}

static void number_type(part *p, sp_dtype dtype, const char *denotation)
{
    const sp_meta meta = {.dtype = dtype, .rank = 1, .dims = {0}};
    sp__mindir_out_put_tensor_type(&p->type, 12, &meta);
    sp__mindir_out_put_number(&p->type, 16, SP_MINDIR_OUT_SCALAR);
    p->denotation = denotation;
}

static void write_number(reader *r, char kind, const char *digits, part *p)
{
    if (kind == 'f') {
        p->name = sp__mindir_out_float(r->o, sp__strtod(digits, NULL));
        number_type(p, SP_DTYPE_F32, "Float32");
    } else if (kind == 'b') {
        p->name = sp__mindir_out_bool(r->o, *digits == '1');
        number_type(p, SP_DTYPE_BOOL, "Bool");
    } else {
        p->name = sp__mindir_out_int(r->o, strtoll(digits, NULL, 10));
        number_type(p, SP_DTYPE_I64, "Int64");
    }
}

static const char *denotation_of(sp_dtype dtype)
{
    switch (dtype) {
    case SP_DTYPE_I64: return "Int64";
    case SP_DTYPE_F32: return "Float32";
    case SP_DTYPE_BOOL: return "Bool";
    default: return NULL;
    }
}

/* A tensor of the function; what is meant as a number ('N') is written as one. */
static sp_status write_tensor(reader *r, bool number, part *p)
{
    SP_CHECK(r->next < r->f->n_results, SP_VALUE,
             "the form of the results, \"%s\", has more tensors than the function's %d", r->form, r->f->n_results);
    const sp_value *v = r->f->results[r->next++], *known = sp__mindir_out_behind(v);
    if (number && known->origin == SP_VALUE_CONSTANT && known->meta.rank == 0) {
        char kind = sp_dtype_kind(known->meta.dtype), text[40];
        double value = 0;
        SP_TRY(sp_tensor_item_f64(known->constant, &value));
        sp__snprintf(text, sizeof text, kind == 'f' ? "%.17g" : "%.0f", value);
        write_number(r, kind == 'f' || kind == 'b' ? kind : 'i', text, p);
        return SP_OK;
    }
    p->name = sp__mindir_out_use(r->o, v);
    if (number && v->meta.rank == 0 && denotation_of(v->meta.dtype)) {
        sp_mindir_id tensor = p->name;
        sp_mindir_out_msg type = {.status = SP_OK};
        number_type(p, v->meta.dtype, denotation_of(v->meta.dtype));
        p->name = sp__mindir_out_fresh(r->o);
        put_copy(&type, 5, "shape", &p->type);
        sp__mindir_out_node(r->o, sp__mindir_out_instance(r->o, "TensorToScalar", NULL), 1, &tensor, p->name, &type);
        return SP_OK;
    }
    sp__mindir_out_put_tensor_type(&p->type, 12, &v->meta);
    sp__mindir_out_put_number(&p->type, 16, SP_MINDIR_OUT_TENSORS);
    return SP_OK;
}

static sp_status write_part(reader *r, part *p);

typedef struct {
    int type;
    const char *denotation;
} sequence_kind;

/* Sparse tensors are tuples that go by another type: their parts, and their shape. */
static sequence_kind kind_of(char opening)
{
    switch (opening) {
    case '[': return (sequence_kind){SP_MINDIR_OUT_LIST, "List"};
    case 'C': return (sequence_kind){SP_MINDIR_OUT_CSR, "CSRTensorType"};
    case 'O': return (sequence_kind){SP_MINDIR_OUT_COO, "COOTensorType"};
    default: return (sequence_kind){SP_MINDIR_OUT_TUPLE, "Tuple"};
    }
}

static sp_status write_sequence(reader *r, char opening, part *p)
{
    const bool list = opening == '[', sparse = opening == 'C' || opening == 'O';
    const char closing = list ? ']' : ')';
    const sequence_kind kind = kind_of(opening);
    sp_mindir_out_msg info = {.status = SP_OK}, type = {.status = SP_OK};
    int n = 0;
    sp_mindir_id *names = sp__arena_alloc(&r->o->arena, strlen(r->at) * sizeof *names + 1);
    if (!names) return SP_NOMEM;
    if (r->depth >= NESTING_MAX) return refuse(r);
    if (sparse && *r->at++ != '(') return refuse(r);
    r->depth++;
    sp__mindir_out_put_number(&p->type, 16, (uint64_t)kind.type);
    while (*r->at && *r->at != closing) {
        part item = {.type = {.status = SP_OK}};
        sp_status status = write_part(r, &item);
        if (status == SP_OK) put_copy(&p->type, 17, NULL, &item.type);
        sp__wire_out_free(&item.type.out);
        SP_TRY(status);
        names[n++] = item.name;
    }
    r->depth--;
    if (*r->at != closing) return refuse(r);
    r->at++;
    if (!sparse) {
        sp__mindir_out_put_number(&info, 1, 0);
        sp__mindir_out_put_message(&p->type, 18, &info);
    }
    p->denotation = kind.denotation;
    if (!n && !list) {
        p->name = sp__mindir_out_ints(r->o, 0, NULL);
        return SP_OK;
    }
    p->name = sp__mindir_out_fresh(r->o);
    put_copy(&type, 5, "shape", &p->type);
    sp__mindir_out_node(r->o, sp__mindir_out_instance(r->o, list ? "make_list" : "MakeTuple", NULL), n, names, p->name,
                        &type);
    return SP_OK;
}

/* "s5:hello" behind its first character. */
static sp_status write_text(reader *r, part *p)
{
    char *end;
    unsigned long bytes = strtoul(r->at, &end, 10);
    if (*end != ':' || bytes > strlen(end + 1)) return refuse(r);
    p->name = sp__mindir_out_string(r->o, end + 1, bytes);
    r->at = end + 1 + bytes;
    sp__mindir_out_put_number(&p->type, 16, SP_MINDIR_OUT_STRING);
    p->denotation = "String";
    return SP_OK;
}

static sp_status write_part(reader *r, part *p)
{
    const char kind = *r->at, *end;
    if (kind) r->at++;
    switch (kind) {
    case 'T':
    case 'N': return write_tensor(r, kind == 'N', p);
    case '(':
    case 'C':
    case 'O':
    case '[': return write_sequence(r, kind, p);
    case 's': return write_text(r, p);
    case '-':
        p->name = sp__mindir_out_none(r->o);
        sp__mindir_out_put_number(&p->type, 16, SP_MINDIR_OUT_NONE);
        p->denotation = "TypeNone";
        return SP_OK;
    case 'i':
    case 'f':
    case 'b':
        if (!(end = strchr(r->at, ';'))) return refuse(r);
        write_number(r, kind, r->at, p);
        r->at = end + 1;
        return SP_OK;
    default: return refuse(r);
    }
}

sp_status sp__mindir_out_result_of_form(sp_mindir_out *o, const sp_function *f, const char *form, sp_mindir_id *name,
                                        sp_mindir_out_msg *info)
{
    reader r = {.o = o, .f = f, .form = form, .at = form};
    part whole = {.type = {.status = SP_OK}};
    sp_status status = write_part(&r, &whole);
    if (status == SP_OK && *r.at) status = refuse(&r);
    if (status == SP_OK) {
        *name = whole.name;
        if (whole.denotation) {
            sp__mindir_out_put_text(info, 4, whole.denotation);
            put_copy(info, 5, NULL, &whole.type);
        } else sp__mindir_out_put_tensor_type(info, 2, &f->results[0]->meta);
    }
    sp__wire_out_free(&whole.type.out);
    return status;
}
