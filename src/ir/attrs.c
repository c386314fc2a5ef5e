/* SPDX-License-Identifier: Apache-2.0 */
/* attrs.c - attribute structs read through their tables: parsing from text and deep copies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/messages.h"
#include "base/plain.h"
#include "ir/op_impl.h"

/* --- values from text -------------------------------------------------------------------------------------------- */

static bool is_none(const char *text) { return strcmp(text, "None") == 0; }

static sp_status bad_text(const sp_attr *a, const char *text, const char *wanted)
{
    return sp__fail(SP_VALUE, "attribute %s is '%s', it must be %s", a->name, text, wanted);
}

static sp_status parse_int(const sp_attr *a, const char *text, int64_t *out)
{
    if (is_none(text)) {
        *out = SP_INT_NONE;
        return SP_OK;
    }
    char *end;
    *out = strtoll(text, &end, 10);
    return end == text || *end ? bad_text(a, text, "an integer") : SP_OK;
}

static sp_status parse_bool(const sp_attr *a, const char *text, bool *out)
{
    *out = strcmp(text, "True") == 0;
    return *out || strcmp(text, "False") == 0 ? SP_OK : bad_text(a, text, "True or False");
}

static sp_status parse_number(const sp_attr *a, const char *text, sp_number *out)
{
    *out = (sp_number){.kind = 'n'};
    if (is_none(text)) return SP_OK;
    bool truth;
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) {
        SP_TRY(parse_bool(a, text, &truth));
        *out = (sp_number){.kind = 'b', .i = truth, .f = truth};
        return SP_OK;
    }
    char *end;
    double f = sp__strtod(text, &end);
    if (end == text || *end) return bad_text(a, text, "a number");
    bool integer = text[strspn(text, "+-0123456789")] == '\0';
    const bool wide = integer && f >= 0x1p63; /* beyond int64_t */
    *out = (sp_number){.kind = integer && !wide ? 'i' : 'f', .f = f};
    if (integer && !wide) out->i = strtoll(text, NULL, 10);
    if (wide) {
        errno = 0;
        out->i = (int64_t)strtoull(text, NULL, 10);
        if (errno) out->i = 0; /* beyond uint64_t, too */
    }
    return SP_OK;
}

static void *keep_block(sp_attr_text *keep, size_t bytes)
{
    if (keep->n_blocks == (int)(sizeof keep->blocks / sizeof *keep->blocks)) {
        sp__fail(SP_VALUE, "too many list attributes in one text");
        return NULL;
    }
    void *block = sp__alloc(bytes ? bytes : 1);
    if (block) keep->blocks[keep->n_blocks++] = block;
    return block;
}

/* "(1, 2)", "[1, 2]", "()" or a bare number. Both element types share the scanner. */
static sp_status parse_list(const sp_attr *a, const char *text, sp_attr_text *keep, bool floats, int *n_out,
                            void **v_out)
{
    size_t room = 1;
    for (const char *p = text; *p; p++) room += *p == ',';
    union {
        int64_t *i;
        double *f;
        void *any;
    } v;
    v.any = keep_block(keep, room * 8);
    if (!v.any) return SP_NOMEM;
    int n = 0;
    for (const char *p = text; *p;) {
        if (strchr("()[], ", *p)) {
            p++;
            continue;
        }
        char *end;
        if (floats) v.f[n] = sp__strtod(p, &end);
        else v.i[n] = strtoll(p, &end, 10);
        if (end == p) return bad_text(a, text, floats ? "numbers like (0.5, 1)" : "integers like (1, 2)");
        p = end;
        n++;
    }
    *n_out = n;
    *v_out = v.any;
    return SP_OK;
}

sp_status sp__attr_parse(const sp_op *op, const sp_attr *a, const char *text, void *attrs, sp_attr_text *keep)
{
    (void)op;
    void *field = (char *)attrs + a->offset;
    switch (a->type) {
    case SP_ATTR_INT: return parse_int(a, text, field);
    case SP_ATTR_BOOL: return parse_bool(a, text, field);
    case SP_ATTR_NUMBER: return parse_number(a, text, field);
    case SP_ATTR_FLOAT: {
        char *end;
        *(double *)field = sp__strtod(text, &end);
        return end == text || *end ? bad_text(a, text, "a number") : SP_OK;
    }
    case SP_ATTR_DTYPE:
        *(sp_dtype *)field = is_none(text) ? SP_DTYPE_NONE : sp_dtype_parse(text);
        return *(sp_dtype *)field == SP_DTYPE_NONE && !is_none(text) ? bad_text(a, text, "a dtype like float32")
                                                                     : SP_OK;
    case SP_ATTR_INTS: {
        sp_ints *list = field;
        *list = (sp_ints){.n = -1};
        if (is_none(text)) return SP_OK;
        void *v;
        SP_TRY(parse_list(a, text, keep, false, &list->n, &v));
        list->v = v;
        return SP_OK;
    }
    case SP_ATTR_FLOATS: {
        sp_floats *list = field;
        *list = (sp_floats){.n = -1};
        if (is_none(text)) return SP_OK;
        void *v;
        SP_TRY(parse_list(a, text, keep, true, &list->n, &v));
        list->v = v;
        return SP_OK;
    }
    case SP_ATTR_TEXT: {
        *(const char **)field = NULL;
        if (is_none(text)) return SP_OK;
        size_t n = strlen(text);
        bool quoted = n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n - 1] == text[0];
        char *copy = keep_block(keep, n + 1);
        if (!copy) return SP_NOMEM;
        memcpy(copy, text + quoted, n - 2 * quoted);
        copy[n - 2 * quoted] = '\0';
        *(const char **)field = copy;
        return SP_OK;
    }
    }
    return sp__fail(SP_RUNTIME, "attribute %s has an unknown type", a->name);
}

const sp_attr *sp__attr_find(const sp_op *op, const char *name, size_t n)
{
    for (int i = 0; i < op->n_attrs; i++)
        if (strlen(op->attrs[i].name) == n && memcmp(op->attrs[i].name, name, n) == 0) return &op->attrs[i];
    return NULL;
}

static const char *attr_name(const void *op, int i) { return ((const sp_op *)op)->attrs[i].name; }

sp_status sp__attrs_parse(const sp_op *op, const char *text, void *attrs, sp_attr_text *keep)
{
    if (op->n_attrs) memcpy(attrs, op->defaults, op->attrs_bytes);
    const char *p = text ? text : "";
    while (*p) {
        if (*p == ' ' || *p == ',') {
            p++;
            continue;
        }
        const char *name = p;
        while (sp__is_alnum(*p) || *p == '_') p++;
        const sp_attr *a = sp__attr_find(op, name, (size_t)(p - name));
        if (!a) {
            const char *near = sp__nearest(name, (size_t)(p - name), op->n_attrs, attr_name, op);
            return sp__fail(SP_VALUE, "%s has no attribute '%.*s'%s%s%s", op->name, (int)(p - name), name,
                            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        SP_CHECK(*p == '=', SP_VALUE, "%s: '=' is missing after attribute %s in '%s'", op->name, a->name, text);
        const char *value = ++p;
        int depth = 0;
        char quote = '\0';
        for (; *p && (depth > 0 || quote || *p != ','); p++) {
            if (quote) quote = *p == quote ? '\0' : quote;
            else if (*p == '"' || *p == '\'') quote = *p;
            else depth += *p == '(' || *p == '[' ? 1 : *p == ')' || *p == ']' ? -1 : 0;
        }
        SP_CHECK(!quote, SP_VALUE, "%s: the quote %c of attribute %s is not closed in '%s'", op->name, quote, a->name,
                 text);
        SP_CHECK(depth == 0, SP_VALUE, "%s: a parenthesis of attribute %s is not %s in '%s'", op->name, a->name,
                 depth > 0 ? "closed" : "opened", text);
        char few[256], *buf = few;
        size_t n = (size_t)(p - value);
        while (n && value[n - 1] == ' ') n--;
        if (n >= sizeof few && !(buf = sp__alloc(n + 1))) return SP_NOMEM;
        memcpy(buf, value, n);
        buf[n] = '\0';
        sp_status status = sp__attr_parse(op, a, buf, attrs, keep);
        if (buf != few) sp__free(buf);
        if (status != SP_OK) {
            sp__error_context("%s", op->name);
            return status;
        }
    }
    return SP_OK;
}

/* --- text from values -------------------------------------------------------------------------------------------- */

static void print_number(sp__text *t, double v)
{
    /* The shortest text that reads back to the same number; it must not look like an integer. */
    char buf[40];
    int digits = 1;
    do sp__snprintf(buf, sizeof buf, "%.*g", digits, v);
    while (++digits <= 17 && sp__strtod(buf, NULL) != v && v == v);
    sp__text_put(t, "%s%s", buf, strpbrk(buf, ".enai") ? "" : ".0");
}

static void print_attr(sp__text *t, const sp_attr *a, const void *attrs)
{
    const void *field = (const char *)attrs + a->offset;
    switch (a->type) {
    case SP_ATTR_INT:
        if (*(const int64_t *)field == SP_INT_NONE) sp__text_put(t, "None");
        else sp__text_put(t, "%lld", (long long)*(const int64_t *)field);
        break;
    case SP_ATTR_FLOAT: print_number(t, *(const double *)field); break;
    case SP_ATTR_BOOL: sp__text_put(t, "%s", *(const bool *)field ? "True" : "False"); break;
    case SP_ATTR_DTYPE:
        sp__text_put(t, "%s",
                     *(const sp_dtype *)field == SP_DTYPE_NONE ? "None" : sp_dtype_name(*(const sp_dtype *)field));
        break;
    case SP_ATTR_INTS: {
        const sp_ints *v = field;
        sp__text_put(t, v->n < 0 ? "None" : "(");
        for (int i = 0; i < v->n; i++) sp__text_put(t, "%s%lld", i ? ", " : "", (long long)v->v[i]);
        if (v->n >= 0) sp__text_put(t, v->n == 1 ? ",)" : ")");
        break;
    }
    case SP_ATTR_FLOATS: {
        const sp_floats *v = field;
        sp__text_put(t, v->n < 0 ? "None" : "(");
        for (int i = 0; i < v->n; i++) {
            if (i) sp__text_put(t, ", ");
            print_number(t, v->v[i]);
        }
        if (v->n >= 0) sp__text_put(t, v->n == 1 ? ",)" : ")");
        break;
    }
    case SP_ATTR_NUMBER: {
        const sp_number *v = field;
        if (v->kind == 'n') sp__text_put(t, "None");
        else if (v->kind == 'b') sp__text_put(t, v->i ? "True" : "False");
        else if (v->kind == 'i') sp__text_put(t, "%lld", (long long)v->i);
        else if (v->i) sp__text_put(t, "%llu", (unsigned long long)v->i);
        else print_number(t, v->f);
        break;
    }
    case SP_ATTR_TEXT:
        if (*(const char *const *)field) sp__text_put(t, "\"%s\"", *(const char *const *)field);
        else sp__text_put(t, "None");
        break;
    }
}

/* Equal in value, lists and strings by contents. */
static bool attr_equal(const sp_attr *a, const void *x, const void *y)
{
    const char *p = (const char *)x + a->offset, *q = (const char *)y + a->offset;
    const void *fx = p, *fy = q;
    switch (a->type) {
    case SP_ATTR_INT: return *(const int64_t *)fx == *(const int64_t *)fy;
    case SP_ATTR_FLOAT: return memcmp(fx, fy, sizeof(double)) == 0;
    case SP_ATTR_BOOL: return *(const bool *)fx == *(const bool *)fy;
    case SP_ATTR_DTYPE: return *(const sp_dtype *)fx == *(const sp_dtype *)fy;
    case SP_ATTR_INTS: {
        const sp_ints *u = fx, *v = fy;
        return u->n == v->n && (u->n <= 0 || memcmp(u->v, v->v, (size_t)u->n * sizeof *u->v) == 0);
    }
    case SP_ATTR_FLOATS: {
        const sp_floats *u = fx, *v = fy;
        return u->n == v->n && (u->n <= 0 || memcmp(u->v, v->v, (size_t)u->n * sizeof *u->v) == 0);
    }
    case SP_ATTR_NUMBER: {
        const sp_number *u = fx, *v = fy;
        return u->kind == v->kind &&
               (u->kind == 'n' || (u->i == v->i && (u->kind != 'f' || memcmp(&u->f, &v->f, sizeof u->f) == 0)));
    }
    case SP_ATTR_TEXT: {
        const char *u = *(const char *const *)fx, *v = *(const char *const *)fy;
        return u == v || (u && v && strcmp(u, v) == 0);
    }
    }
    return false;
}

bool sp__attrs_equal(const sp_op *op, const void *x, const void *y)
{
    for (int i = 0; i < op->n_attrs; i++)
        if (!attr_equal(&op->attrs[i], x, y)) return false;
    return true;
}

void sp__attrs_print(sp__text *t, const sp_op *op, const void *attrs)
{
    const void *defaults = op->defaults;
    bool first = true;
    for (int i = 0; i < op->n_attrs; i++) {
        if (attr_equal(&op->attrs[i], attrs, defaults)) continue;
        sp__text_put(t, "%s%s=", first ? "" : ", ", op->attrs[i].name);
        print_attr(t, &op->attrs[i], attrs);
        first = false;
    }
}

void sp__attr_text_free(sp_attr_text *keep)
{
    for (int i = 0; i < keep->n_blocks; i++) sp__free(keep->blocks[i]);
    keep->n_blocks = 0;
}

/* --- what was not given ------------------------------------------------------------------------------------------ */

bool sp__attr_missing(const sp_attr *a, const void *attrs)
{
    const void *field = (const char *)attrs + a->offset;
    switch (a->type) {
    case SP_ATTR_INT: return *(const int64_t *)field == SP_INT_NONE;
    case SP_ATTR_DTYPE: return *(const sp_dtype *)field == SP_DTYPE_NONE;
    case SP_ATTR_INTS: return ((const sp_ints *)field)->n < 0;
    case SP_ATTR_FLOATS: return ((const sp_floats *)field)->n < 0;
    case SP_ATTR_NUMBER: return ((const sp_number *)field)->kind == 'n';
    case SP_ATTR_TEXT: return *(const char *const *)field == NULL;
    case SP_ATTR_FLOAT:
    case SP_ATTR_BOOL: return false;
    }
    return false;
}

bool sp__attr_may_miss(const sp_attr *a) { return a->initial && is_none(a->initial); }

size_t sp__attr_bytes(const sp_attr *a)
{
    switch (a->type) {
    case SP_ATTR_INT: return sizeof(int64_t);
    case SP_ATTR_FLOAT: return sizeof(double);
    case SP_ATTR_BOOL: return sizeof(bool);
    case SP_ATTR_DTYPE: return sizeof(sp_dtype);
    case SP_ATTR_INTS: return sizeof(sp_ints);
    case SP_ATTR_FLOATS: return sizeof(sp_floats);
    case SP_ATTR_NUMBER: return sizeof(sp_number);
    case SP_ATTR_TEXT: return sizeof(const char *);
    }
    return 0;
}

sp_status sp__attrs_complete(const sp_op *op, const void **attrs, void *room, size_t room_bytes)
{
    const void *defaults = NULL;
    for (int i = 0; i < op->n_attrs; i++) {
        const sp_attr *a = &op->attrs[i];
        if (!sp__attr_missing(a, *attrs) || sp__attr_may_miss(a)) continue;
        SP_CHECK(a->initial, SP_TYPE, "%s: attribute %s must be given", op->name, a->name);
        if (!defaults) {
            SP_CHECK(op->attrs_bytes <= room_bytes, SP_RUNTIME, "%s has %zu bytes of attributes, there is room for %zu",
                     op->name, op->attrs_bytes, room_bytes);
            memcpy(room, *attrs, op->attrs_bytes);
            *attrs = room;
            defaults = op->defaults;
        }
        memcpy((char *)room + a->offset, (const char *)defaults + a->offset, sp__attr_bytes(a));
    }
    return SP_OK;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

/* Bytes behind the pointer of a list or string attribute. */
static size_t tail_bytes(const sp_attr *a, const void *attrs)
{
    const void *field = (const char *)attrs + a->offset;
    switch (a->type) {
    case SP_ATTR_INTS: return ((const sp_ints *)field)->n > 0 ? (size_t)((const sp_ints *)field)->n * 8 : 0;
    case SP_ATTR_FLOATS: return ((const sp_floats *)field)->n > 0 ? (size_t)((const sp_floats *)field)->n * 8 : 0;
    case SP_ATTR_TEXT: return *(const char *const *)field ? strlen(*(const char *const *)field) + 1 : 0;
    default: return 0;
    }
}

sp_status sp__attrs_copy(const sp_op *op, const void *attrs, void **out)
{
    *out = NULL;
    if (!attrs || !op->n_attrs) return SP_OK;
    size_t total = (op->attrs_bytes + 7) / 8 * 8;
    for (int i = 0; i < op->n_attrs; i++) total += (tail_bytes(&op->attrs[i], attrs) + 7) / 8 * 8;
    char *block = sp__alloc(total);
    if (!block) return SP_NOMEM;
    memcpy(block, attrs, op->attrs_bytes);
    char *at = block + (op->attrs_bytes + 7) / 8 * 8;
    for (int i = 0; i < op->n_attrs; i++) {
        const sp_attr *a = &op->attrs[i];
        size_t n = tail_bytes(a, attrs);
        if (!n) continue;
        const void *from = (const char *)attrs + a->offset;
        char *field = block + a->offset;
        if (a->type == SP_ATTR_TEXT) {
            memcpy(at, *(const char *const *)from, n);
            *(const char **)(void *)field = at;
        } else if (a->type == SP_ATTR_INTS) {
            memcpy(at, ((const sp_ints *)from)->v, n);
            ((sp_ints *)(void *)field)->v = (const int64_t *)(void *)at;
        } else {
            memcpy(at, ((const sp_floats *)from)->v, n);
            ((sp_floats *)(void *)field)->v = (const double *)(void *)at;
        }
        at += (n + 7) / 8 * 8;
    }
    *out = block;
    return SP_OK;
}
