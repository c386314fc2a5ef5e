/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out_rules.c - the rules of all tables, and those written as texts, which most operators need no more than:
 *
 *     ReduceSum(x, axis, keepdims, False)          Stack(*){axis}          TopK(x, k){sorted=True}
 *
 * In brackets are the inputs of the primitive, in braces the attributes of its instance.
 *     x          an operand by the name of the table; None where it is left out
 *     axis       an attribute of the operator, as a constant; {name=axis}: called `name` in MindIR
 *     *          all operands, as a tuple
 *     True 0 0.5 None    constants */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "formats/mindir/mindir_out.h"

static bool is_plain(const sp_op *op) { return op->mindir && !op->n_attrs && op->n_out >= 0 && !op->writes; }

const sp_mindir_out_rule *sp__mindir_out_rule(const sp_node *n)
{
    static const sp_mindir_out_rule *const tables[] = {sp__mindir_out_math, sp__mindir_out_shape, sp__mindir_out_place,
                                                       sp__mindir_out_nn};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const sp_mindir_out_rule *r = tables[t]; r->op; r++)
            if (!strcmp(r->op, n->op->name) && (!r->takes || r->takes(n))) return r;
    return NULL;
}

bool sp__mindir_out_never(const sp_node *n)
{
    (void)n;
    return false;
}

bool sp__mindir_out_floats(const sp_node *n) { return sp_dtype_kind(n->in[0]->meta.dtype) == 'f'; }

static bool is_refused(const sp_op *op)
{
    static const sp_mindir_out_rule *const tables[] = {sp__mindir_out_math, sp__mindir_out_shape, sp__mindir_out_place,
                                                       sp__mindir_out_nn};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const sp_mindir_out_rule *r = tables[t]; r->op; r++)
            if (!strcmp(r->op, op->name)) return true;
    return false;
}

bool sp__mindir_out_writes(const sp_node *n)
{
    if (sp__mindir_out_rule(n)) return true;
    if (!is_plain(n->op) || is_refused(n->op)) return false;
    for (int i = 0; i < n->n_in; i++)
        if (!n->in[i]) return false;
    return true;
}

/* --- texts ------------------------------------------------------------------------------------------------------- */

static bool taken(const char **p, char c)
{
    while (**p == ' ') ++*p;
    if (**p != c) return false;
    ++*p;
    return true;
}

static void read_word(const char **p, char *word, size_t room)
{
    size_t n = 0;
    while (**p == ' ') ++*p;
    while ((sp__is_alnum((*p)[n]) || strchr("_.-*", (*p)[n])) && (*p)[n] && n + 1 < room) n++;
    memcpy(word, *p, n);
    word[n] = '\0';
    *p += n;
}

static int operand_of(const sp_node *n, const char *name)
{
    const sp_inputs *inputs = sp__op_inputs(n->op);
    for (int i = 0; i < inputs->n; i++)
        if (!strcmp(inputs->names[i], name)) return i;
    return -1;
}

static sp_mindir_id input_of(sp_mindir_out *o, const char *word)
{
    int i = operand_of(o->node, word);
    if (i >= 0) return sp__mindir_out_in(o, i);
    if (!strcmp(word, "*")) return sp__mindir_out_tuple(o, o->node->n_in, o->node->in);
    if (!strcmp(word, "None")) return sp__mindir_out_none(o);
    if (!strcmp(word, "True") || !strcmp(word, "False")) return sp__mindir_out_bool(o, *word == 'T');
    if (sp__is_digit(*word) || *word == '-')
        return strchr(word, '.') ? sp__mindir_out_float(o, sp__strtod(word, NULL)) : sp__mindir_out_int(o, atoll(word));
    return sp__mindir_out_attr(o, word);
}

/* name=value of an attribute text; the value is an attribute of ours, or as written. */
static void put_attr(sp_mindir_out *o, char *text, size_t room, const char *name, const char *value)
{
    sp_attr_type type = SP_ATTR_INT;
    const void *p = sp__node_attr_at(o->node, value, &type);
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, room - used, "%s%s=", used ? ", " : "", name);
    if (!p) {
        snprintf(text + used, room - used, "%s", value);
        return;
    }
    switch (type) {
    case SP_ATTR_BOOL: snprintf(text + used, room - used, *(const bool *)p ? "True" : "False"); break;
    case SP_ATTR_FLOAT: sp__snprintf(text + used, room - used, "%.9ge0", *(const double *)p); break;
    case SP_ATTR_TEXT: snprintf(text + used, room - used, "'%s'", sp__mindir_out_attr_text(o->node, value)); break;
    case SP_ATTR_INTS: {
        const sp_ints *v = p;
        used += (size_t)snprintf(text + used, room - used, "(");
        for (int i = 0; i < v->n; i++) used += (size_t)snprintf(text + used, room - used, "%lld,", (long long)v->v[i]);
        snprintf(text + used, room - used, ")");
        break;
    }
    default: snprintf(text + used, room - used, "%lld", (long long)*(const int64_t *)p);
    }
}

static void write_text(sp_mindir_out *o, const char *text)
{
    char type[64], word[48], value[48], attrs[512] = "";
    sp_mindir_id in[16];
    int n = 0;
    read_word(&text, type, sizeof type);
    taken(&text, '(');
    while (!taken(&text, ')') && *text && n < 16) {
        read_word(&text, word, sizeof word);
        in[n++] = input_of(o, word);
        taken(&text, ',');
    }
    if (taken(&text, '{'))
        while (!taken(&text, '}') && *text) {
            read_word(&text, word, sizeof word);
            memcpy(value, word, sizeof value);
            if (taken(&text, '=')) {
                if (*text == '\'') {
                    size_t bytes = strcspn(text + 1, "'") + 2;
                    snprintf(value, sizeof value, "%.*s", (int)bytes, text);
                    text += bytes;
                } else read_word(&text, value, sizeof value);
            }
            put_attr(o, attrs, sizeof attrs, word, value);
            taken(&text, ',');
        }
    sp__mindir_out_give(o, type, attrs, n, in);
}

static void write_plain(sp_mindir_out *o)
{
    sp_mindir_id in[SP_IN_MAX];
    int n = o->node->n_in < SP_IN_MAX ? o->node->n_in : SP_IN_MAX;
    for (int i = 0; i < n; i++) in[i] = sp__mindir_out_in(o, i);
    sp__mindir_out_give(o, o->node->op->mindir, NULL, n, in);
}

sp_status sp__mindir_out_write(sp_mindir_out *o, const sp_node *n)
{
    o->node = n;
    o->rule = sp__mindir_out_rule(n);
    if (o->rule && o->rule->text) write_text(o, o->rule->text);
    else if (o->rule) o->rule->write(o);
    else if (is_plain(n->op)) write_plain(o);
    else return o->model.status = sp__fail(SP_DECLINED, "%s has no counterpart in MindIR in this form", n->op->name);
    return o->model.status;
}
