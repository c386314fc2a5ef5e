/* SPDX-License-Identifier: Apache-2.0 */
/* py_face_text.c - reading the faces of operators from the text in their entries. Names are split at import (a thousand
 * faces take a millisecond); arguments are parsed when a face is first used. */
#include "py_faces.h"

static face *faces;
static int n_faces;

static char *copy_text(const char *from, size_t n)
{
    char *copy = PyMem_Malloc(n + 1);
    if (!copy) {
        sp__py_no_memory();
        return NULL;
    }
    memcpy(copy, from, n);
    copy[n] = '\0';
    return copy;
}

/* First character of `stops` outside of brackets and quotes, or the end. */
static const char *find_outside(const char *p, const char *stops)
{
    int depth = 0;
    for (; *p; p++) {
        if (*p == '\'' || *p == '"') {
            const char *end = strchr(p + 1, *p);
            if (!end) return p + strlen(p);
            p = end;
            continue;
        }
        if (depth == 0 && strchr(stops, *p)) return p;
        if (*p == '(' || *p == '[') depth++;
        if (*p == ')' || *p == ']') depth--;
    }
    return p;
}

/* "(...)" at p: its inside as new text; *end behind it. */
static char *parenthesis(const char *p, const char **end)
{
    const char *close = *p == '(' ? find_outside(p + 1, ")") : p;
    if (*close != ')') return NULL;
    *end = close + 1;
    return copy_text(p + 1, (size_t)(close - p - 1));
}

static int malformed(const sp_op *op, const char *text)
{
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "operator '%s': the face '%.80s' is malformed", op->name, text);
    return -1;
}

static int split(const sp_op *op, const char *p, const char *end, face *f)
{
    const char *open = memchr(p, '(', (size_t)(end - p));
    if (!open) return malformed(op, p);
    const char *dot = open;
    while (dot > p && *dot != '.') dot--;
    size_t n_place = (size_t)(dot - p), n_name = (size_t)(open - dot - 1);
    if (dot == p || n_place >= sizeof f->place || n_name >= sizeof f->name) return malformed(op, p);
    f->op = op;
    memcpy(f->place, p, n_place);
    memcpy(f->name, dot + 1, n_name);
    f->method = strcmp(f->place, "Tensor") == 0;
    const char *rest;
    f->call_text = parenthesis(open, &rest);
    if (!f->call_text) return malformed(op, p);
    rest += strspn(rest, " ");
    if (*rest == '(' && rest < end) {
        f->primitive = true;
        f->init_text = f->call_text;
        f->call_text = parenthesis(rest, &rest);
        if (!f->call_text) return malformed(op, p);
    }
    return 0;
}

face *sp__py_faces(int *n)
{
    if (!faces) {
        int count = 0;
        for (int i = 0; i < sp_op_count(); i++)
            for (const char *p = sp_op_at(i)->python; p && *p; p++) count += *p == ';';
        count += sp_op_count();
        face *all = PyMem_Calloc((size_t)count, sizeof *all);
        if (!all) {
            sp__py_no_memory();
            return NULL;
        }
        int k = 0;
        for (int i = 0; i < sp_op_count(); i++) {
            const sp_op *op = sp_op_at(i);
            for (const char *p = op->python ? op->python : ""; *p;) {
                p += strspn(p, " ;\n");
                if (!*p) break;
                const char *end = find_outside(p, ";");
                if (split(op, p, end, &all[k]) < 0) return NULL;
                k++;
                p = end;
            }
        }
        faces = all;
        n_faces = k;
    }
    *n = n_faces;
    return faces;
}

/* --- arguments --------------------------------------------------------------------------------------------------- */

static const sp_attr *attr_named(const sp_op *op, const char *name)
{
    for (int i = 0; i < op->n_attrs; i++)
        if (strcmp(op->attrs[i].name, name) == 0) return &op->attrs[i];
    return NULL;
}

static int input_named(const face *f, const char *name)
{
    for (int i = 0; i < f->inputs->n; i++)
        if (strcmp(f->inputs->names[i], name) == 0) return i;
    return -1;
}

static int parse_part(face *f, const char *text, char targets[][32])
{
    bool keyword_only = false;
    for (const char *p = text; *p;) {
        p += strspn(p, " ,\n");
        if (!*p) break;
        const char *end = find_outside(p, ",");
        const char *last = end;
        while (last > p && last[-1] == ' ') last--;
        if (*p == '*' && last == p + 1) {
            keyword_only = true;
            p = end;
            continue;
        }
        if (f->n_args == FACE_ARGS_MAX) return malformed(f->op, text);
        face_arg *a = &f->args[f->n_args];
        char *target = targets[f->n_args++];
        *a = (face_arg){.input = -1, .keyword_only = keyword_only};
        if (*p == '*') a->star = true, p++;
        else if (*p == '.') a->fixed = true, p++;
        const char *equals = find_outside(p, "=,");
        if (equals > last || *equals != '=') equals = last;
        const char *colon = memchr(p, ':', (size_t)(equals - p));
        const char *name_end = colon ? colon : equals;
        if (name_end == p || name_end - p >= 32 || equals - p >= 64) return malformed(f->op, text);
        memcpy(a->name, p, (size_t)(name_end - p));
        if (colon) memcpy(target, colon + 1, (size_t)(equals - colon - 1));
        else memcpy(target, a->name, sizeof a->name);
        if (equals < last && !(a->initial = copy_text(equals + 1, (size_t)(last - equals - 1)))) return -1;
        if (a->star) keyword_only = true; /* whatever follows can be given by name only */
        p = end;
    }
    return 0;
}

int sp__py_face_parse(face *f)
{
    if (f->parsed) return 0;
    char targets[FACE_ARGS_MAX][32] = {{0}};
    f->inputs = sp__op_inputs(f->op);
    f->star = -1;
    f->n_args = f->n_init = f->n_positional = 0;
    f->args = PyMem_Calloc(FACE_ARGS_MAX, sizeof *f->args);
    if (!f->args) return sp__py_no_memory(), -1;
    if (f->primitive && parse_part(f, f->init_text, targets) < 0) return -1;
    f->n_init = f->n_args;
    if (parse_part(f, f->call_text, targets) < 0) return -1;

    /* Names that the entry knows first, then the others take the inputs that are left, in order. */
    uint32_t taken = f->method ? 1u : 0u;
    for (int i = 0; i < f->n_args; i++) {
        face_arg *a = &f->args[i];
        int input = input_named(f, targets[i]);
        if (input >= 0 && !(taken >> input & 1u)) a->input = input, taken |= 1u << input;
        else a->attr = attr_named(f->op, targets[i]);
    }
    for (int i = 0, next = 0; i < f->n_args; i++) {
        face_arg *a = &f->args[i];
        if (a->attr || a->input >= 0) continue;
        while (taken >> next & 1u) next++;
        if (next >= f->inputs->n || a->fixed) return malformed(f->op, f->call_text);
        a->input = next;
        taken |= 1u << next;
    }
    if (f->op->n_attrs) {
        f->attrs = PyMem_Malloc(f->op->attrs_bytes);
        if (!f->attrs) return sp__py_no_memory(), -1;
        memcpy(f->attrs, f->op->defaults, f->op->attrs_bytes);
    }
    for (int i = 0; i < f->n_args; i++) {
        face_arg *a = &f->args[i];
        a->key = PyUnicode_InternFromString(a->name);
        if (!a->key) return -1;
        if (a->star && i >= f->n_init) f->star = i;
        if (i >= f->n_init && !a->star && !a->keyword_only && !a->fixed) f->n_positional++;
        if (a->attr && a->initial) {
            sp_status status = sp__attr_parse(f->op, a->attr, a->initial, f->attrs, &f->keep);
            if (status != SP_OK) return sp__py_fail(status), -1;
        }
    }
    f->parsed = true;
    return 0;
}

static bool is_bare_name(const char *p, const char *end)
{
    const size_t n = (size_t)(end - p);
    const bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
    return letter && !(n == 4 && (memcmp(p, "True", 4) == 0 || memcmp(p, "None", 4) == 0)) &&
           !(n == 5 && memcmp(p, "False", 5) == 0);
}

char *sp__py_face_signature(const char *self, const char *text)
{
    size_t room = 2 * strlen(text) + 48; /* at most two quotes for every default */
    char *out = PyMem_Malloc(room), *o = out;
    if (!out) return sp__py_no_memory(), NULL;
    *o++ = '(';
    bool first = true, star = false;
    if (*self) {
        o = (char *)memcpy(o, self, strlen(self)) + strlen(self);
        first = false;
    }
    for (const char *p = text; *p;) {
        p += strspn(p, " ,\n");
        if (!*p) break;
        const char *end = find_outside(p, ",");
        if (*p == '.' || (*p == '*' && star && end == p + 1)) {
            p = end;
            continue;
        }
        star = star || *p == '*';
        const char *equals = find_outside(p, "=,");
        const char *colon = memchr(p, ':', (size_t)((equals < end ? equals : end) - p));
        if (!first) *o++ = ',', *o++ = ' ';
        first = false;
        if (colon) {
            memcpy(o, p, (size_t)(colon - p));
            o += colon - p;
            p = equals < end ? equals : end;
        }
        /* inspect reads literals only: a dtype is shown as its name. */
        const bool bare = equals < end && is_bare_name(equals + 1, end);
        const char *stop = bare ? equals + 1 : end;
        memcpy(o, p, (size_t)(stop - p));
        o += stop - p;
        if (bare) {
            *o++ = '\'';
            memcpy(o, stop, (size_t)(end - stop));
            o += end - stop;
            *o++ = '\'';
        }
        p = end;
    }
    *o++ = ')';
    *o = '\0';
    return out;
}
