/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_text.c - rules written as texts, which most operators need no more than.
 *
 *     t = Sigmoid(x); dout * t * (1 + x * (1 - t))
 *
 * Statements are separated by `;`. The last one gives the result, or several separated by `|`.
 *     x dout          operands by the names of the table
 *     alpha 0.5       attributes of the operator and numbers; they take the dtype of what they meet
 *     Erf(e)          an ONNX operator; `_` leaves an operand out; `name=value` are its attributes: a number, 'text', [1,2], or the name of an
 *                     attribute of ours
 *     + - * / < > <= >= ==    Add, Sub ... Equal
 *     cast(e, x)      to the dtype of x; `cast(e, float32)` to that one
 *     sum(e, axis) mean(e, axis) max(e, axis) min(e, axis) prod(e, axis)      over axes of a list, kept
 *     rows(e)         the first axis of e is to be counted after all of x's: e broadcast along channels, (1, C, 1, 1) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "formats/onnx/onnx_out.h"

enum { NAMES_MAX = 32, ARGS_MAX = 12 };

typedef struct {
    sp_onnx_out *o;
    const char *at;
    int n_names;
    struct {
        char name[24];
        sp_onnx_id value;
    } names[NAMES_MAX];
} parser;

static sp_onnx_id expression(parser *p);

static void blank(parser *p)
{
    while (*p->at == ' ' || *p->at == '\n') p->at++;
}

static bool taken(parser *p, const char *token)
{
    blank(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0) return false;
    p->at += n;
    return true;
}

static sp_onnx_id wrong(parser *p, const char *what)
{
    sp__onnx_out_fail(p->o, sp__fail(SP_RUNTIME, "rule of %s: %s at '%.20s'", p->o->node->op->name, what, p->at));
    return 0;
}

static bool read_name(parser *p, char *name, size_t room)
{
    blank(p);
    size_t n = 0;
    while (sp__is_alnum(p->at[n]) || p->at[n] == '_') n++;
    if (n == 0 || n >= room || sp__is_digit(*p->at)) return false;
    memcpy(name, p->at, n);
    name[n] = '\0';
    p->at += n;
    return true;
}

/* The value of a name: a local one, an operand, an attribute. */
static sp_onnx_id lookup(parser *p, const char *name)
{
    sp_onnx_out *o = p->o;
    for (int i = p->n_names - 1; i >= 0; i--)
        if (!strcmp(p->names[i].name, name)) return p->names[i].value;
    const sp_inputs *inputs = sp__op_inputs(o->node->op);
    for (int i = 0; i < inputs->n && i < o->node->n_in; i++)
        if (!strcmp(inputs->names[i], name)) return o->in[i];
    sp_attr_type type;
    if (!sp__node_attr_at(o->node, name, &type)) return wrong(p, "nothing is called so");
    if (type == SP_ATTR_INTS) {
        sp_ints list = sp__onnx_out_list(o, name);
        return sp__onnx_out_ints(o, list.n, list.v);
    }
    return sp__onnx_out_number(o, sp__onnx_out_float(o, name));
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

/* The value of an attribute: as written, or that of an attribute of ours. */
static void put_attr(parser *p, char *text, size_t room, const char *name)
{
    sp_onnx_out *o = p->o;
    size_t used = strlen(text);
    char of[32];
    used += (size_t)snprintf(text + used, room - used, "%s%s=", used ? ", " : "", name);
    blank(p);
    if (!sp__is_alpha(*p->at)) {
        const char *end = *p->at == '['    ? strchr(p->at, ']') + 1
                          : *p->at == '\'' ? strchr(p->at + 1, '\'') + 1
                                           : p->at + strcspn(p->at, ",) ");
        snprintf(text + used, room - used, "%.*s", (int)(end - p->at), p->at);
        p->at = end;
        return;
    }
    sp_attr_type type;
    if (!read_name(p, of, sizeof of) || !sp__node_attr_at(o->node, of, &type)) {
        wrong(p, "no attribute of that name");
        return;
    }
    switch (type) {
    case SP_ATTR_FLOAT: sp__snprintf(text + used, room - used, "%.9ge0", sp__onnx_out_float(o, of)); break;
    case SP_ATTR_TEXT: snprintf(text + used, room - used, "'%s'", sp__onnx_out_text(o, of)); break;
    case SP_ATTR_INTS: {
        sp_ints list = sp__onnx_out_list(o, of);
        used += (size_t)snprintf(text + used, room - used, "[");
        for (int i = 0; i < list.n; i++)
            used += (size_t)snprintf(text + used, room - used, "%lld,", (long long)list.v[i]);
        snprintf(text + used, room - used, "]");
        break;
    }
    default: snprintf(text + used, room - used, "%lld", (long long)sp__onnx_out_int(o, of));
    }
}

static sp_onnx_id call_onnx(parser *p, const char *op)
{
    sp_onnx_id in[ARGS_MAX];
    char attrs[512] = "", name[32];
    int n = 0;
    while (!taken(p, ")")) {
        if (!sp__onnx_out_ok(p->o)) return 0;
        if (n >= ARGS_MAX) return wrong(p, "too many operands");
        const char *before = p->at;
        if (taken(p, "_") && (blank(p), *p->at == ',' || *p->at == ')')) in[n++] = 0;
        else {
            p->at = before;
            if (read_name(p, name, sizeof name) && (blank(p), *p->at == '=' && p->at[1] != '=')) {
                p->at++;
                put_attr(p, attrs, sizeof attrs, name);
            } else {
                p->at = before;
                in[n++] = expression(p);
            }
        }
        taken(p, ",");
        if (!*p->at) return wrong(p, "a bracket is missing");
    }
    return sp__onnx_out_op(p->o, op, n, in, "%s", attrs);
}

static sp_onnx_id call_cast(parser *p)
{
    char name[32];
    sp_onnx_id x = expression(p);
    if (!taken(p, ",") || !read_name(p, name, sizeof name) || !taken(p, ")"))
        return wrong(p, "cast(value, dtype or name)");
    sp_dtype d = sp_dtype_parse(name);
    if (d == SP_DTYPE_NONE) {
        sp_attr_type type;
        const void *attr = sp__node_attr_at(p->o->node, name, &type);
        d = attr && type == SP_ATTR_DTYPE ? *(const sp_dtype *)attr : sp__onnx_out_dtype(p->o, lookup(p, name));
    }
    return sp__onnx_out_cast(p->o, x, d);
}

/* Over the axes that an attribute lists or names. */
static sp_onnx_id call_reduce(parser *p, const char *op)
{
    char name[32];
    sp_onnx_id x = expression(p);
    if (!taken(p, ",") || !read_name(p, name, sizeof name) || !taken(p, ")"))
        return wrong(p, "an attribute with axes is expected");
    sp_attr_type type;
    if (!sp__node_attr_at(p->o->node, name, &type)) return wrong(p, "no such attribute");
    if (type != SP_ATTR_INTS) {
        int64_t axis = sp__onnx_out_int(p->o, name);
        return sp__onnx_out_reduce(p->o, op, x, 1, &axis, true);
    }
    sp_ints axes = sp__onnx_out_list(p->o, name);
    return sp__onnx_out_reduce(p->o, op, x, axes.n, axes.v, true);
}

/* (C,) beside an operand (N, C, ...): (C, 1, ...) */
static sp_onnx_id call_rows(parser *p)
{
    int64_t dims[SP_RANK_MAX] = {-1, 1, 1, 1, 1, 1, 1, 1};
    sp_onnx_id x = expression(p);
    if (!taken(p, ")")) return wrong(p, "rows(value)");
    int rank = sp__onnx_out_meta(p->o, 0)->rank;
    return rank > 2 ? sp__onnx_out_reshape(p->o, x, rank - 1, dims) : x;
}

static sp_onnx_id call(parser *p, const char *name)
{
    static const struct {
        const char *name, *op;
    } reductions[] = {{"sum", "ReduceSum"},
                      {"mean", "ReduceMean"},
                      {"max", "ReduceMax"},
                      {"min", "ReduceMin"},
                      {"prod", "ReduceProd"}};
    if (sp__is_upper(*name)) return call_onnx(p, name);
    if (!strcmp(name, "cast")) return call_cast(p);
    if (!strcmp(name, "rows")) return call_rows(p);
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (!strcmp(name, reductions[i].name)) return call_reduce(p, reductions[i].op);
    return wrong(p, "no such function");
}

/* --- expressions ------------------------------------------------------------------------------------------------- */

static sp_onnx_id primary(parser *p)
{
    char name[32];
    blank(p);
    if (taken(p, "(")) {
        sp_onnx_id e = expression(p);
        return taken(p, ")") ? e : wrong(p, "a bracket is missing");
    }
    if (taken(p, "-")) {
        sp_onnx_id e = primary(p);
        if (e && p->o->values[e].is_number) return sp__onnx_out_number(p->o, -p->o->values[e].number);
        return SP_ONNX_OUT(p->o, "Neg", NULL, e);
    }
    if (sp__is_digit(*p->at)) {
        char *end;
        double v = sp__strtod(p->at, &end);
        p->at = end;
        return sp__onnx_out_number(p->o, v);
    }
    if (!read_name(p, name, sizeof name)) return wrong(p, "a value is expected");
    return taken(p, "(") ? call(p, name) : lookup(p, name);
}

/* Numbers are computed with at once. */
static sp_onnx_id binary(parser *p, const char *op, sp_onnx_id x, sp_onnx_id y)
{
    const sp_onnx_out_value *v = p->o->values;
    if (!x || !y || !v[x].is_number || !v[y].is_number || strlen(op) != 3) return SP_ONNX_OUT(p->o, op, NULL, x, y);
    double a = v[x].number, b = v[y].number;
    return sp__onnx_out_number(p->o, *op == 'A' ? a + b : *op == 'S' ? a - b : *op == 'M' ? a * b : a / b);
}

static sp_onnx_id product(parser *p)
{
    sp_onnx_id x = primary(p);
    for (;;) {
        if (taken(p, "*")) x = binary(p, "Mul", x, primary(p));
        else if (taken(p, "/")) x = binary(p, "Div", x, primary(p));
        else return x;
    }
}

static sp_onnx_id sum(parser *p)
{
    sp_onnx_id x = product(p);
    for (;;) {
        if (taken(p, "+")) x = binary(p, "Add", x, product(p));
        else if (taken(p, "-")) x = binary(p, "Sub", x, product(p));
        else return x;
    }
}

static sp_onnx_id expression(parser *p)
{
    static const struct {
        const char *sign, *op;
    } signs[] = {{"<=", "LessOrEqual"}, {">=", "GreaterOrEqual"}, {"==", "Equal"}, {"<", "Less"}, {">", "Greater"}};
    sp_onnx_id x = sum(p);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (taken(p, signs[i].sign)) return binary(p, signs[i].op, x, sum(p));
    return x;
}

/* name = expression; remembered. */
static bool assignment(parser *p)
{
    char name[24];
    const char *before = p->at;
    if (!read_name(p, name, sizeof name) || !taken(p, "=") || *p->at == '=') {
        p->at = before;
        return false;
    }
    sp_onnx_id v = expression(p);
    if (p->n_names == NAMES_MAX) wrong(p, "too many names");
    else {
        memcpy(p->names[p->n_names].name, name, sizeof name);
        p->names[p->n_names++].value = v;
    }
    return true;
}

void sp__onnx_out_write_text(sp_onnx_out *o, const char *text)
{
    parser p = {.o = o, .at = text};
    while (sp__onnx_out_ok(o) && assignment(&p))
        if (!taken(&p, ";")) wrong(&p, "';' is expected");
    for (int i = 0; sp__onnx_out_ok(o) && i < o->node->n_out; i++) {
        if (i > 0 && !taken(&p, "|")) wrong(&p, "'|' and a further result are expected");
        o->out[i] = expression(&p);
    }
    blank(&p);
    if (sp__onnx_out_ok(o) && *p.at) wrong(&p, "the end is expected");
}
