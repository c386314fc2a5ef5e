/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops.c - primitives of MindIR done with our operators.
 *
 * Most differ only in how arguments are passed, so a rule is text. Its `inputs` say what input k of a MindIR node is:
 *     _     an operand              _?    an operand that may be None       *     a tuple of operands
 *     -     nothing we need         name  attribute `name` of our operator; name<other: called `other` in MindIR
 *     name=1      always so
 * Attributes that are not among the inputs are looked up by name: before 2.3 they were attributes of the primitive.
 * Primitives without a rule but with an operator that has their name (sp_op.mindir) get one made of its inputs and attributes
 * in order. What is left has a function. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/parts.h"
#include "base/plain.h"
#include "base/used.h"
#include "formats/mindir/mindir_ops.h"
#include "ir/op_impl.h"

/* --- values ------------------------------------------------------------------------------------------------------ */

sp_mindir_value *sp__mindir_value(sp_mindir_call *c, sp_mindir_kind kind, int n)
{
    sp_mindir_value *v = sp__arena_alloc(c->arena, sizeof *v);
    if (!v || (n && !(v->items = sp__arena_alloc(c->arena, (size_t)n * sizeof *v->items)))) return NULL;
    v->kind = kind;
    v->n = n;
    return v;
}

sp_mindir_value *sp__mindir_tensor(sp__arena *arena, sp_tensor *t)
{
    sp_mindir_value *v = sp__arena_alloc(arena, sizeof *v);
    if (!v) return NULL;
    v->kind = SP_MINDIR_TENSOR;
    v->t = t;
    return v;
}

sp_status sp__mindir_give(sp_mindir_call *c, sp_tensor *t, sp_mindir_value **out)
{
    if (!t) return sp__builder_status(c->b);
    return (*out = sp__mindir_tensor(c->arena, t)) ? SP_OK : SP_NOMEM;
}

sp_status sp__mindir_number(sp_mindir_call *c, sp_mindir_kind kind, int64_t i, double f, sp_mindir_value **out)
{
    if (!(*out = sp__mindir_value(c, kind, 0))) return SP_NOMEM;
    (*out)->i = i;
    (*out)->f = f;
    return SP_OK;
}

sp_status sp__mindir_as_tensor(sp_mindir_call *c, const sp_mindir_value *v, sp_tensor **out)
{
    sp_tensor *t;
    switch (v->kind) {
    case SP_MINDIR_TENSOR: *out = v->t; return SP_OK;
    case SP_MINDIR_INT: SP_TRY(sp_tensor_create_i64(SP_DTYPE_I64, v->i, &t)); break;
    case SP_MINDIR_BOOL: SP_TRY(sp_tensor_create_i64(SP_DTYPE_BOOL, v->i, &t)); break;
    case SP_MINDIR_FLOAT: SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, v->f, &t)); break;
    case SP_MINDIR_TUPLE: {
        int64_t n = v->n, *data;
        SP_TRY(sp_tensor_create(SP_DTYPE_I64, 1, &n, &t));
        data = sp_tensor_data(t);
        for (int i = 0; i < v->n; i++) {
            if (v->items[i]->kind != SP_MINDIR_INT && v->items[i]->kind != SP_MINDIR_BOOL) {
                sp_tensor_release(t);
                return sp__fail(SP_FORMAT, "a tuple is given where a tensor is expected");
            }
            data[i] = v->items[i]->i;
        }
        *out = sp_builder_take_tensor(c->b, t);
        return *out ? SP_OK : sp__builder_status(c->b);
    }
    default: return sp__fail(SP_FORMAT, "a value that is not a tensor is given where one is expected");
    }
    t->flags |= SP_TENSOR_WEAK; /* a Python number: its dtype yields */
    *out = sp_builder_take_tensor(c->b, t);
    return *out ? SP_OK : sp__builder_status(c->b);
}

const sp_mindir_value *sp__mindir_attr(const sp_mindir_call *c, const char *name)
{
    for (int i = 0; i < c->primitive->n_attrs; i++)
        if (!strcmp(c->primitive->attrs[i].name, name)) return c->primitive->attrs[i].value;
    return NULL;
}

/* The numbers in a value: one, a tuple of them, or a tensor whose contents are known. */
sp_status sp__mindir_ints(const sp_mindir_value *v, int max, int64_t *out, int *n)
{
    *n = 0;
    if (v->kind == SP_MINDIR_TUPLE) {
        for (int i = 0; i < v->n; i++) {
            int got;
            SP_CHECK(*n < max, SP_FORMAT, "%d numbers are given, at most %d are expected", v->n, max);
            SP_TRY(sp__mindir_ints(v->items[i], max - *n, out + *n, &got));
            *n += got;
        }
        return SP_OK;
    }
    if (v->kind == SP_MINDIR_TENSOR) {
        SP_CHECK(!sp_tensor_is_symbol(v->t), SP_SYMBOL, "the contents of a tensor decide about shapes");
        sp_tensor *flat;
        SP_CHECK(sp_tensor_count(v->t) <= max, SP_FORMAT, "%lld numbers are given, at most %d are expected",
                 (long long)sp_tensor_count(v->t), max);
        SP_TRY(sp_tensor_contiguous(v->t, &flat));
        sp_dtype d = sp_tensor_dtype(flat);
        const void *data = sp_tensor_data(flat);
        sp_status status = d == SP_DTYPE_I64 || d == SP_DTYPE_I32
                               ? SP_OK
                               : sp__fail(SP_FORMAT, "numbers are given as %s", sp_dtype_name(d));
        for (int64_t i = 0; status == SP_OK && i < sp_tensor_count(flat); i++)
            out[(*n)++] = d == SP_DTYPE_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
        sp_tensor_release(flat);
        return status;
    }
    SP_CHECK(v->kind == SP_MINDIR_INT || v->kind == SP_MINDIR_BOOL, SP_FORMAT,
             "a value that is not an integer is given where one is expected");
    out[(*n)++] = v->i;
    return SP_OK;
}

sp_status sp__mindir_int(const sp_mindir_value *v, int64_t *out)
{
    int n;
    SP_TRY(sp__mindir_ints(v, 1, out, &n));
    SP_CHECK(n == 1, SP_FORMAT, "no number is given where one is expected");
    return SP_OK;
}

/* Input k if there, else the attribute, else nothing. */
const sp_mindir_value *sp__mindir_argument(const sp_mindir_call *c, int k, const char *name)
{
    if (k >= 0 && k < c->n_in) return c->in[k];
    return name ? sp__mindir_attr(c, name) : NULL;
}

sp_status sp__mindir_int_argument(const sp_mindir_call *c, int k, const char *name, int64_t initial, int64_t *out)
{
    const sp_mindir_value *v = sp__mindir_argument(c, k, name);
    *out = initial;
    return v && v->kind != SP_MINDIR_NONE ? sp__mindir_int(v, out) : SP_OK;
}

sp_status sp__mindir_operand(sp_mindir_call *c, int k, sp_tensor **out)
{
    SP_CHECK(k < c->n_in, SP_FORMAT, "%s has %d inputs, input %d is needed", c->primitive->type, c->n_in, k);
    return sp__mindir_as_tensor(c, c->in[k], out);
}

static const char *kind_text(const sp_mindir_value *v)
{
    switch (v->kind) {
    case SP_MINDIR_NONE: return "None";
    case SP_MINDIR_INT: return "an int";
    case SP_MINDIR_BOOL: return "a bool";
    case SP_MINDIR_FLOAT: return "a float";
    case SP_MINDIR_TEXT: return "a text";
    case SP_MINDIR_TUPLE: return "a tuple";
    case SP_MINDIR_TENSOR: return "a tensor";
    case SP_MINDIR_DTYPE: return "a type";
    default: return "a function";
    }
}

sp_status sp__mindir_real(const sp_mindir_value *v, const char *what, double *out)
{
    if (v->kind == SP_MINDIR_TENSOR) {
        SP_CHECK(!sp_tensor_is_symbol(v->t), SP_SYMBOL, "%s is computed", what);
        return sp_tensor_item_f64(v->t, out);
    }
    SP_CHECK(v->kind == SP_MINDIR_FLOAT || v->kind == SP_MINDIR_INT || v->kind == SP_MINDIR_BOOL, SP_FORMAT,
             "%s is %s; a number is wanted", what, kind_text(v));
    *out = v->kind == SP_MINDIR_FLOAT ? v->f : (double)v->i;
    return SP_OK;
}

sp_status sp__mindir_word(const sp_mindir_value *v, const char *what, const char *words, int *out)
{
    char shown[SP_NAME_SHOWN];
    SP_CHECK(v->kind == SP_MINDIR_TEXT || v->kind == SP_MINDIR_INT, SP_FORMAT, "%s is %s; wanted is one of: %s", what,
             kind_text(v), words);
    const char *at = words;
    for (int i = 0; *at; i++) {
        const size_t n = strcspn(at, " ");
        if (v->kind == SP_MINDIR_INT ? v->i == i : strlen(v->s) == n && sp__same_letters_n(v->s, at, n)) {
            *out = i;
            return SP_OK;
        }
        at += n;
        at += *at == ' ';
    }
    SP_CHECK(v->kind != SP_MINDIR_INT, SP_FORMAT, "%s is %lld; wanted is the place of one of: %s", what,
             (long long)v->i, words);
    return sp__fail(SP_FORMAT, "%s is '%s'; wanted is one of: %s", what, sp__name_shown(v->s, strlen(v->s), shown),
                    words);
}

/* --- texts of attributes ----------------------------------------------------------------------------------------- */

void sp__mindir_put(sp_mindir_text *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = sp__vsnprintf(a->text + a->used, sizeof a->text - a->used, format, list);
    va_end(list);
    a->used = n < 0 || a->used + (size_t)n >= sizeof a->text ? sizeof a->text : a->used + (size_t)n;
}

void sp__mindir_put_list(sp_mindir_text *a, const char *name, int n, const int64_t *v)
{
    sp__mindir_put(a, "%s%s=(", a->used ? ", " : "", name);
    for (int i = 0; i < n; i++) sp__mindir_put(a, "%lld,", (long long)v[i]);
    sp__mindir_put(a, ")");
}

sp_status sp__mindir_put_value(sp_mindir_text *a, const sp_mindir_value *v)
{
    switch (v->kind) {
    case SP_MINDIR_NONE: sp__mindir_put(a, "None"); return SP_OK;
    case SP_MINDIR_INT: sp__mindir_put(a, "%lld", (long long)v->i); return SP_OK;
    case SP_MINDIR_BOOL: sp__mindir_put(a, v->i ? "True" : "False"); return SP_OK;
    case SP_MINDIR_FLOAT: sp__mindir_put(a, isinf(v->f) ? (v->f > 0 ? "inf" : "-inf") : "%.17g", v->f); return SP_OK;
    case SP_MINDIR_DTYPE: sp__mindir_put(a, "%s", sp_dtype_name(v->dtype)); return SP_OK;
    case SP_MINDIR_TEXT:
        SP_CHECK(!strpbrk(v->s, "'\"\\,"), SP_FORMAT, "the text '%s' cannot be an attribute", v->s);
        sp__mindir_put(a, "%s", v->s);
        return SP_OK;
    case SP_MINDIR_TUPLE:
        sp__mindir_put(a, "(");
        for (int i = 0; i < v->n; i++) {
            SP_TRY(sp__mindir_put_value(a, v->items[i]));
            sp__mindir_put(a, ",");
        }
        sp__mindir_put(a, ")");
        return SP_OK;
    case SP_MINDIR_TENSOR: {
        int64_t ints[64];
        int n;
        double f;
        SP_CHECK(!sp_tensor_is_symbol(v->t), SP_SYMBOL, "the contents of a tensor decide about attributes");
        if (sp_tensor_count(v->t) == 1 && sp_dtype_kind(sp_tensor_dtype(v->t)) == 'f') {
            SP_TRY(sp_tensor_item_f64(v->t, &f));
            sp__mindir_put(a, "%.17g", f);
            return SP_OK;
        }
        SP_TRY(sp__mindir_ints(v, 64, ints, &n));
        if (sp_tensor_rank(v->t) == 0) {
            sp__mindir_put(a, "%lld", (long long)ints[0]);
            return SP_OK;
        }
        sp__mindir_put(a, "(");
        for (int i = 0; i < n; i++) sp__mindir_put(a, "%lld,", (long long)ints[i]);
        sp__mindir_put(a, ")");
        return SP_OK;
    }
    default: return sp__fail(SP_FORMAT, "a function is given where a number is expected");
    }
}

static const sp_attr *attr_of(const sp_op *op, const char *name, size_t bytes)
{
    for (int i = 0; i < op->n_attrs; i++)
        if (strlen(op->attrs[i].name) == bytes && !strncmp(op->attrs[i].name, name, bytes)) return &op->attrs[i];
    return NULL;
}

/* Text attributes come as numbers since 2.3: formats and ways of padding and reducing. */
sp_status sp__mindir_put_attr(sp_mindir_text *a, const sp_attr *attr, const sp_mindir_value *v)
{
    static const char *const formats[] = {"NCHW", "NHWC"}, *const pads[] = {"pad", "same", "valid"},
                             *const reductions[] = {"sum", "mean", "none"};
    if (v->kind == SP_MINDIR_NONE && attr->initial && strcmp(attr->initial, "None")) return SP_OK;
    sp__mindir_put(a, "%s%s=", a->used ? ", " : "", attr->name);
    if (attr->type == SP_ATTR_DTYPE && v->kind == SP_MINDIR_INT) {
        /* numbers of MindSpore's own list of types */
        static const struct {
            int64_t number;
            const char *name;
        } types[] = {{30, "bool"},    {32, "int8"},    {33, "int16"},    {34, "int32"},     {35, "int64"},
                     {37, "uint8"},   {38, "uint16"},  {39, "uint32"},   {40, "uint64"},    {42, "float16"},
                     {43, "float32"}, {44, "float64"}, {45, "bfloat16"}, {48, "complex64"}, {49, "complex128"}};
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (types[i].number == v->i) return sp__mindir_put(a, "%s", types[i].name), SP_OK;
        return sp__fail(SP_FORMAT, "%s is type number %lld, which is not known", attr->name, (long long)v->i);
    }
    if (attr->type == SP_ATTR_TEXT && v->kind == SP_MINDIR_INT) {
        bool is_pad = !strcmp(attr->name, "pad_mode"), is_reduction = !strcmp(attr->name, "reduction");
        SP_CHECK(v->i >= 0 && v->i < (is_pad || is_reduction ? 3 : 2), SP_FORMAT, "%s is %lld, which is not known",
                 attr->name, (long long)v->i);
        sp__mindir_put(a, "%s", is_pad ? pads[v->i] : is_reduction ? reductions[v->i] : formats[v->i]);
        return SP_OK;
    }
    return sp__mindir_put_value(a, v);
}

/* --- applying ---------------------------------------------------------------------------------------------------- */

sp_status sp__mindir_apply_text(sp_mindir_call *c, const char *name, const char *text, int n_in, sp_tensor *const *in,
                                sp_mindir_value **out)
{
    const sp_op *op = sp_op_find(name);
    sp_attr_text kept = {.n_blocks = 0};
    int n = 0;
    SP_CHECK(op, SP_KEY, "there is no operator '%s'", name);
    void *attrs = sp__arena_alloc(c->arena, op->attrs_bytes + 1);
    int room = op->n_out < 0 ? SP_MINDIR_RESULTS_MAX : SP_OUT_MAX;
    sp_tensor **results = sp__arena_alloc(c->arena, (size_t)room * sizeof *results);
    if (!attrs || !results) return SP_NOMEM;
    sp_status status = sp__attrs_parse(op, text, attrs, &kept);
    if (status == SP_OK) status = sp_builder_apply_many(c->b, op, attrs, n_in, in, room, results, &n);
    sp__attr_text_free(&kept);
    SP_TRY(status);
    if (n == 1 && op->n_out >= 0) return sp__mindir_give(c, results[0], out);
    if (!(*out = sp__mindir_value(c, SP_MINDIR_TUPLE, n))) return SP_NOMEM;
    for (int i = 0; i < n; i++) SP_TRY(sp__mindir_give(c, results[i], &(*out)->items[i]));
    return SP_OK;
}

/* One operator with one result. */
sp_status sp__mindir_call(sp_mindir_call *c, const char *name, int n_in, sp_tensor *const *in, sp_mindir_value **out,
                          const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    sp__vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return sp__mindir_apply_text(c, name, text, n_in, in, out);
}

sp_status sp__mindir_operands(sp_mindir_call *c, const sp_mindir_value *v, int max, sp_tensor **in, int *n)
{
    if (v->kind != SP_MINDIR_TUPLE) {
        SP_CHECK(*n < max, SP_FORMAT, "more than %d operands", max);
        return sp__mindir_as_tensor(c, v, &in[(*n)++]);
    }
    for (int i = 0; i < v->n; i++) SP_TRY(sp__mindir_operands(c, v->items[i], max, in, n));
    return SP_OK;
}

sp_status sp__mindir_run_text(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    const sp_op *op = sp_op_find(rule->op);
    SP_CHECK(op, SP_DECLINED, "%s: operator %s is not in this build: SPORE_OPERATORS (cmake) does not name it",
             rule->mindir, rule->op);
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor **in = sp__arena_alloc(c->arena, SP_MINDIR_RESULTS_MAX * sizeof *in);
    int n = 0, k = 0;
    if (!a || !in) return SP_NOMEM;
    for (const char *p = rule->inputs; *p;) {
        size_t bytes = strcspn(p, " ");
        const sp_mindir_value *v = k < c->n_in ? c->in[k] : NULL;
        if (*p == '_') {
            bool left_out = !v || v->kind == SP_MINDIR_NONE || v->kind == SP_MINDIR_MONAD;
            SP_CHECK(!left_out || p[1] == '?', SP_FORMAT, "%s has %d inputs, input %d is needed", rule->mindir, c->n_in,
                     k);
            in[n] = NULL;
            if (!left_out) SP_TRY(sp__mindir_as_tensor(c, v, &in[n]));
            n++;
        } else if (*p == '*') {
            SP_CHECK(v, SP_FORMAT, "%s has no inputs", rule->mindir);
            /* Before 1.7 operands that belong together were not put into a tuple. */
            if (v->kind == SP_MINDIR_TUPLE) SP_TRY(sp__mindir_operands(c, v, SP_MINDIR_RESULTS_MAX, in, &n));
            else
                for (; k < c->n_in && c->in[k]->kind == SP_MINDIR_TENSOR; k++)
                    SP_TRY(sp__mindir_operands(c, c->in[k], SP_MINDIR_RESULTS_MAX, in, &n));
            if (v->kind != SP_MINDIR_TUPLE) k--;
        } else if (memchr(p, '=', bytes)) {
            sp__mindir_put(a, "%s%.*s", a->used ? ", " : "", (int)bytes, p);
            k--;
        } else if (*p != '-') {
            size_t ours = strcspn(p, "< ");
            char other[64];
            snprintf(other, sizeof other, "%.*s", (int)(ours < bytes ? bytes - ours - 1 : bytes),
                     ours < bytes ? p + ours + 1 : p);
            const sp_attr *attr = attr_of(op, p, ours);
            SP_CHECK(attr, SP_KEY, "rule of %s: %s has no attribute '%.*s'", rule->mindir, op->name, (int)ours, p);
            if (!v || v->kind == SP_MINDIR_MONAD) v = sp__mindir_attr(c, other);
            if (v) SP_TRY(sp__mindir_put_attr(a, attr, v));
        }
        k++;
        p += bytes;
        p += *p == ' ';
    }
    SP_CHECK(a->used < sizeof a->text, SP_FORMAT, "%s has attributes that are too long", rule->mindir);
    return sp__mindir_apply_text(c, rule->op, a->text, n, in, out);
}

static sp_status run_like(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    sp_mindir_text a = {.used = 0};
    SP_TRY(sp__mindir_operand(c, 0, &x));
    sp__mindir_put(&a, "value=%s, dtype=%s, shape=(", rule->op, sp_dtype_name(sp_tensor_dtype(x)));
    for (int i = 0; i < sp_tensor_rank(x); i++) {
        SP_CHECK(sp_tensor_dims(x)[i] >= 0, SP_SYMBOL, "a dimension is not known before the model runs");
        sp__mindir_put(&a, "%lld,", (long long)sp_tensor_dims(x)[i]);
    }
    sp__mindir_put(&a, ")");
    return sp__mindir_apply_text(c, "full", a.text, 0, NULL, out);
}

static sp_status run_zeros(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    int64_t dims[SP_RANK_MAX];
    int n;
    sp_mindir_text a = {.used = 0};
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "%s has no shape", rule->mindir);
    SP_TRY(sp__mindir_ints(c->in[0], SP_RANK_MAX, dims, &n));
    const sp_attr dtype = {.name = "dtype", .type = SP_ATTR_DTYPE, .initial = "None"};
    sp__mindir_put(&a, "value=%s, shape=(", rule->op);
    for (int i = 0; i < n; i++) sp__mindir_put(&a, "%lld,", (long long)dims[i]);
    sp__mindir_put(&a, ")");
    if (c->n_in > 1) SP_TRY(sp__mindir_put_attr(&a, &dtype, c->in[1]));
    return sp__mindir_apply_text(c, "full", a.text, 0, NULL, out);
}

static sp_status run_reduce_all_axes(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    return sp__mindir_apply_text(c, rule->op, "", 1, &x, out);
}

/* --- conditions that must hold --------------------------------------------------------------------------------- */

static sp_status check_holds(const char *message, const sp_tensor *t)
{
    double truth;
    SP_CHECK(t->count == 1, SP_FORMAT, "Assert: a condition is one truth value, this one has %lld",
             (long long)t->count);
    SP_TRY(sp_tensor_item_f64(t, &truth));
    return truth != 0 ? SP_OK : sp__fail(SP_RUNTIME, "%s", message);
}

static sp_status assert_late(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in, (void)n_out, (void)out;
    return check_holds(context, in[0]);
}

static sp_status run_assert(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    (void)rule;
    sp_tensor *holds;
    const sp_mindir_value *said = sp__mindir_attr(c, "message");
    const char *message =
        said && said->kind == SP_MINDIR_TEXT && *said->s ? said->s : "Assert: a condition does not hold";
    SP_TRY(sp__mindir_operand(c, 0, &holds));
    if (!(*out = sp__arena_alloc(c->arena, sizeof **out))) return SP_NOMEM;
    (*out)->kind = SP_MINDIR_NONE;
    if (!sp_tensor_is_symbol(holds)) return check_holds(message, holds);
    char *kept = sp__strdup(message);
    if (!kept) return SP_NOMEM;
    sp_status status = sp_function_host(SP_HOST_ASSERT, assert_late, sp__free, kept, 1, &holds, 0, NULL, NULL);
    if (status != SP_OK) sp__free(kept);
    return status;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

#define TEXT(mindir_, op_, inputs_) {.mindir = mindir_, .op = op_, .inputs = inputs_, .run = sp__mindir_run_text}
/* What a small build need not read has no function (base/parts.h), and of the lists of other files nothing is left when it needs none of them. */
#ifdef SP_HAVE_MINDIR_EXT
#define HAVE_EXT SP_HAVE_MINDIR_EXT
#define HAVE_SCALAR SP_HAVE_MINDIR_SCALAR
#else
#define HAVE_EXT 1
#define HAVE_SCALAR 1
#endif
#define WANTED(mindir_, run_) (SP_WANTS_PRIMITIVE(mindir_) ? run_ : NULL)
#define CODE(mindir_, op_, run_) {.mindir = mindir_, .op = op_, .run = WANTED(mindir_, run_)}
#define RESIZE(mindir_, mode_) {.mindir = mindir_, .inputs = mode_, .run = WANTED(mindir_, sp__mindir_run_resize)}
#define TURNED(mindir_, op_, inputs_)                                                                                  \
    {.mindir = mindir_, .op = op_, .inputs = inputs_, .run = WANTED(mindir_, sp__mindir_run_turned)}
#define CONTROL(mindir_, control_) {.mindir = mindir_, .control = control_}

static const sp_mindir_rule rules[] = {
    CONTROL("MakeTuple", SP_MINDIR_MAKE_TUPLE),
    CONTROL("MakeList", SP_MINDIR_MAKE_TUPLE),
    CONTROL("make_list", SP_MINDIR_MAKE_TUPLE),
    CONTROL("TupleGetItem", SP_MINDIR_GET_ITEM),
    CONTROL("ListGetItem", SP_MINDIR_GET_ITEM),
    CONTROL("list_getitem", SP_MINDIR_GET_ITEM),
    CONTROL("RealTupleGetItem", SP_MINDIR_GET_ITEM),
    CONTROL("RealMakeTuple", SP_MINDIR_MAKE_TUPLE),
    CONTROL("Depend", SP_MINDIR_FIRST),
    CONTROL("Load", SP_MINDIR_FIRST),
    CONTROL("StopGradient", SP_MINDIR_FIRST),
    CONTROL("Identity", SP_MINDIR_FIRST),
    CONTROL("TensorMove", SP_MINDIR_FIRST),
    CONTROL("Return", SP_MINDIR_FIRST),
    CONTROL("return", SP_MINDIR_FIRST),
    CONTROL("stop_gradient", SP_MINDIR_FIRST),
    CONTROL("UpdateState", SP_MINDIR_STATE),
    CONTROL("Partial", SP_MINDIR_PARTIAL),
    CONTROL("partial", SP_MINDIR_PARTIAL),
    CONTROL("Switch", SP_MINDIR_SWITCH),
    CONTROL("switch", SP_MINDIR_SWITCH),
    CONTROL("SwitchLayer", SP_MINDIR_SWITCH_LAYER),
    CONTROL("switch_layer", SP_MINDIR_SWITCH_LAYER),

    CODE("Conv2D", "conv2d", sp__mindir_run_conv),
    CODE("Conv3D", "conv3d", sp__mindir_run_conv),
    CODE("DepthwiseConv2dNative", "conv2d", sp__mindir_run_conv),
    CODE("MaxPool", "max_pool2d", sp__mindir_run_pool),
    CODE("AvgPool", "avg_pool2d", sp__mindir_run_pool),
    CODE("BiasAdd", "add", sp__mindir_run_bias_add),
    CODE("Shape", NULL, sp__mindir_run_shape),
    CODE("TensorShape", NULL, sp__mindir_run_shape),
    CODE("DynamicShape", NULL, sp__mindir_run_shape),
    CODE("ExpandDims", NULL, sp__mindir_run_expand_dims),
    CODE("Squeeze", NULL, sp__mindir_run_squeeze),
    CODE("Flatten", NULL, sp__mindir_run_flatten),
    CODE("FlattenExt", NULL, sp__mindir_run_flatten),
    CODE("StridedSlice", NULL, sp__mindir_run_strided_slice),
    CODE("ReverseV2", NULL, sp__mindir_run_reverse),
    CODE("Split", NULL, sp__mindir_run_split),
    CODE("LSTM", NULL, sp__mindir_run_lstm),
    CODE("Dropout", NULL, sp__mindir_run_dropout),
    CODE("UniformReal", "random_uniform", sp__mindir_run_random),
    CODE("StandardNormal", "random_normal", sp__mindir_run_random),
    CODE("UniformInt", "random_int", sp__mindir_run_random),
    CODE("Assert", NULL, run_assert),
    CODE("ZerosLike", "0", run_like),
    CODE("OnesLike", "1", run_like),
    CODE("ZerosLikeExt", "0", run_like),
    CODE("OnesLikeExt", "1", run_like),
    CODE("Zeros", "0", run_zeros),
    CODE("Ones", "1", run_zeros),
    CODE("Max", "reduce_max", run_reduce_all_axes),
    CODE("Min", "reduce_min", run_reduce_all_axes),

    TEXT("TensorAdd", "add", "_ _"),
    TEXT("Adds", "add", "_ _"),
    TEXT("Subs", "sub", "_ _"),
    TEXT("Muls", "mul", "_ _"),
    TEXT("Divs", "div", "_ _"),
    TEXT("Div", "div", "_ _"),
    TEXT("RealDiv", "div", "_ _"),
    TEXT("LessScalar", "less", "_ _"),
    TEXT("LessEqualScalar", "less_equal", "_ _"),
    TEXT("GreaterScalar", "greater", "_ _"),
    TEXT("Mod", "floor_mod", "_ _"),
    TEXT("GreaterEqualScalar", "greater_equal", "_ _"),
    TEXT("EqualScalar", "equal", "_ _"),
    TEXT("EqScalar", "equal", "_ _"),
    TEXT("NotEqualScalar", "not_equal", "_ _"),
    TEXT("PowTensorScalar", "pow", "_ _"),
    TEXT("PowScalarTensor", "pow", "_ _"),
    TEXT("MatMul", "matmul", "_ _ transpose_a transpose_b"),
    TEXT("BatchMatMul", "matmul", "_ _ transpose_a transpose_b"),
    TEXT("MatMulExt", "matmul", "_ _"),
    TEXT("BatchMatMulExt", "matmul", "_ _"),
    TEXT("Mm", "matmul", "_ _"),
    TEXT("Dense", "dense", "_ _ _?"),
    TEXT("ReduceSum", "reduce_sum", "_ axis keepdims<keep_dims -"),
    TEXT("ReduceMax", "reduce_max", "_ axis keepdims<keep_dims"),
    TEXT("ReduceMin", "reduce_min", "_ axis keepdims<keep_dims"),
    TEXT("ReduceProd", "reduce_prod", "_ axis keepdims<keep_dims"),
    TEXT("ReduceAll", "reduce_all", "_ axis keepdims<keep_dims"),
    TEXT("ReduceAny", "reduce_any", "_ axis keepdims<keep_dims"),
    TEXT("SumExt", "sum", "_ axis keepdims dtype"),
    TEXT("MeanExt", "mean", "_ axis keepdims dtype"),
    TEXT("ProdExt", "prod", "_ axis keepdims dtype"),
    TEXT("Argmax", "argmax", "_ axis dtype<output_type"),
    TEXT("Argmin", "argmin", "_ axis dtype<output_type"),
    TEXT("ArgMaxExt", "argmax", "_ axis keepdims"),
    TEXT("ArgMinExt", "argmin", "_ axis keepdims"),
    TEXT("GeLU", "gelu_tanh", "_"),
    TEXT("GeluExt", "gelu", "_"),
    TEXT("Gelu", "gelu_tanh", "_"),
    TEXT("Concat", "concat", "* axis"),
    TEXT("Stack", "stack", "* axis"),
    TEXT("StackExt", "stack", "* axis"),
    TEXT("AddN", "addn", "*"),
    TEXT("Unstack", "unstack", "_ axis"),
    TEXT("Unpack", "unstack", "_ axis"),
    TEXT("Pack", "stack", "* axis"),
    TEXT("SplitWithSize", "split", "_ sizes axis"),
    TEXT("Cast", "cast", "_ dtype<dst_type"),
    TEXT("Gather", "gather", "_ _ axis batch_dims"),
    TEXT("GatherV2", "gather", "_ _ axis"),
    TEXT("Select", "select", "_ _ _"),
    TEXT("Reshape", "reshape", "_ shape"),
    TEXT("Transpose", "transpose", "_ perm"),
    TEXT("Tile", "tile", NULL),
    TEXT("BroadcastTo", "broadcast_to", "_ shape"),
    TEXT("Assign", "assign", "_ _"),
    TEXT("AssignAdd", "assign_add", "_ _"),
    TEXT("AssignSub", "assign_sub", "_ _"),
    TEXT("GatherD", "gather_elements", "_ dim _"),
    TEXT("OneHot", "one_hot", "_ depth _ _ axis"),
    TEXT("Sort", "sort", "_ axis descending indices=int32"),
    TEXT("TopK", "topk", "_ k sorted indices=int32"),
    TEXT("SortExt", "sort", "_ axis descending -"),
    TEXT("TopkExt", "topk", "_ k axis largest sorted"),
    TEXT("GroupNorm", "group_norm", "_ num_groups _? _? epsilon"),
    TEXT("Softplus", "softplus", "_"),
    TEXT("SoftplusExt", "softplus", "_ beta threshold"),
    TEXT("LeakyReLU", "leaky_relu", "_ alpha<negative_slope"),
    TEXT("LeakyReLUExt", "leaky_relu", "_ alpha"),
    TEXT("Threshold", "threshold", "_ threshold value"),
    TEXT("LogSumExp", "logsumexp", "_ axis keepdims"),
    TEXT("Range", "arange", "start end step -"),
    TEXT("Arange", "arange", "start end step dtype"),
    TEXT("LinSpace", "linspace", "start end steps"),
    TEXT("LinSpaceExt", "linspace", "start end steps dtype"),
    TEXT("AdaptiveAvgPool2DExt", "adaptive_avg_pool2d", "_ output_size"),
    TEXT("TensorScatterUpdate", "tensor_scatter", "_ _ _"),
    TEXT("TensorScatterAdd", "tensor_scatter", "_ _ _ reduce=add"),
    TEXT("TensorScatterSub", "tensor_scatter", "_ _ _ reduce=sub"),
    TEXT("TensorScatterMul", "tensor_scatter", "_ _ _ reduce=mul"),
    TEXT("TensorScatterDiv", "tensor_scatter", "_ _ _ reduce=div"),
    TEXT("TensorScatterMax", "tensor_scatter", "_ _ _ reduce=max"),
    TEXT("TensorScatterMin", "tensor_scatter", "_ _ _ reduce=min"),
    TEXT("Qr", "qr", "_ complete<full_matrices"),
    TEXT("Outer", "outer", "_ _"),
    TEXT("RepeatInterleaveInt", "repeat", "_ repeats axis -"),
    TEXT("RmsNorm", "rms_norm", "_ _ epsilon"),
    TEXT("PReLU", "prelu", "_ _"),
    TEXT("Svd", "svd", "_ full -"),
    {.mindir = "CropAndResize",
     .op = "crop_and_resize",
     .inputs = "_ _ _ crop_size method extrapolation_value",
     .run = WANTED("CropAndResize", sp__mindir_run_crop)},
    CODE("PadV3", "pad", sp__mindir_run_pad),
    CODE("ConstantPadND", "pad", sp__mindir_run_pad),
    CODE("Pad", "pad", sp__mindir_run_pad_attr),
    CODE("MirrorPad", "pad", sp__mindir_run_pad_attr),
    CODE("FillV2", NULL, sp__mindir_run_fill),
    CODE("FillScalar", NULL, sp__mindir_run_fill),
    CODE("FillTensor", NULL, sp__mindir_run_fill),
    CODE("Fill", NULL, sp__mindir_run_fill),
    CODE("ScatterNd", NULL, sp__mindir_run_scatter_nd),
    CODE("TensorScatterElements", NULL, sp__mindir_run_scatter_elements),
    CODE("Cummin", NULL, sp__mindir_run_cummin),
    CODE("SolveTriangular", NULL, sp__mindir_run_triangular),
    CODE("FFT", NULL, sp__mindir_run_fft),
    CODE("IFFT", NULL, sp__mindir_run_fft),
    RESIZE("ResizeBilinearV2", "linear"),
    RESIZE("ResizeBilinear", "linear"),
    RESIZE("ResizeNearestNeighborV2", "nearest"),
    RESIZE("ResizeNearestNeighbor", "nearest"),
    RESIZE("ResizeLinear1D", "linear"),
    CODE("DepthToSpace", NULL, sp__mindir_run_blocks),
    CODE("SpaceToDepth", NULL, sp__mindir_run_blocks),
    CODE("MaxPool3D", "max_pool3d", sp__mindir_run_pool_3d),
    CODE("AvgPool3D", "avg_pool3d", sp__mindir_run_pool_3d),
    CODE("MaxPoolWithArgmaxV2", "max_pool2d_indices", sp__mindir_run_pool_argmax),
    CODE("MaxPool3DWithArgmax", "max_pool3d_indices", sp__mindir_run_pool_argmax),
    CODE("Conv2DTranspose", "conv2d_input_grad", sp__mindir_run_conv_transposed),
    CODE("Conv2DBackpropInput", "conv2d_input_grad", sp__mindir_run_conv_transposed),
    CODE("Conv3DTranspose", "conv3d_input_grad", sp__mindir_run_conv_transposed),
    CODE("Conv3DBackpropInput", "conv3d_input_grad", sp__mindir_run_conv_transposed),
    CODE("BiasAddGrad", NULL, sp__mindir_run_bias_add_grad),
    CODE("Conv2DBackpropFilter", "conv2d_weight_grad", sp__mindir_run_conv_filter),
    CODE("MaxPoolGrad", "pool_max_grad", sp__mindir_run_pool_grad),
    CODE("AvgPoolGrad", "pool_mean_grad", sp__mindir_run_pool_grad),
    {.mindir = "BatchNorm",
     .op = "batch_norm",
     .inputs = "_ _? _? _? _? is_training epsilon momentum data_format",
     .run = WANTED("BatchNorm", sp__mindir_run_batch_norm)},
    CODE("BatchNormGrad", NULL, sp__mindir_run_batch_norm_grad),
    CODE("LayerNormGrad", NULL, sp__mindir_run_layer_norm_grad),
    TURNED("ReluGrad", "relu_grad", "01"),
    TURNED("GeLUGrad", "gelu_tanh_grad", "10"),
    TURNED("ReLU6Grad", "relu6_grad", "10"),
    TURNED("SiLUGrad", "silu_grad", "10"),
    TURNED("HSwishGrad", "hardswish_grad", "10"),
    TURNED("HSigmoidGrad", "hardsigmoid_grad", "10"),
    TURNED("SoftmaxBackward", "softmax_grad", "10 dim"),
    TURNED("LogSoftmaxGrad", "log_softmax_grad", "01 axis"),
    CODE("SigmoidGrad", NULL, sp__mindir_run_slope),
    CODE("TanhGrad", NULL, sp__mindir_run_slope),
    CODE("SqrtGrad", NULL, sp__mindir_run_slope),
    CODE("RsqrtGrad", NULL, sp__mindir_run_slope),
    CODE("ReciprocalGrad", NULL, sp__mindir_run_slope),
    CODE("GatherDGradV2", NULL, sp__mindir_run_gather_grad),
    CODE("UnsortedSegmentSum", NULL, sp__mindir_run_segment_sum),
    CODE("StridedSliceGrad", NULL, sp__mindir_run_slice_grad),
    CODE("MaskedFill", NULL, sp__mindir_run_masked_fill),
    CODE("AddExt", "add", sp__mindir_run_add_ext),
    CODE("SubExt", "sub", sp__mindir_run_add_ext),
    CODE("InplaceAddExt", "add", sp__mindir_run_add_ext),
    CODE("InplaceAddsExt", "add", sp__mindir_run_add_ext),
    CODE("InplaceSubExt", "sub", sp__mindir_run_add_ext),
    TEXT("InplaceMul", "mul", "_ _"),
    TEXT("InplaceMuls", "mul", "_ _"),
    TEXT("InplaceDiv", "div", "_ _"),
    TEXT("InplaceDivs", "div", "_ _"),
    TEXT("InplaceReLU", "relu", "_"),
    TEXT("BitwiseAndTensor", "bitwise_and", "_ _"),
    TEXT("BitwiseOrTensor", "bitwise_or", "_ _"),
    TEXT("BitwiseXorTensor", "bitwise_xor", "_ _"),
    CODE("Slice", NULL, sp__mindir_run_slice),
    CODE("SliceExt", NULL, sp__mindir_run_slice_ext),
    CODE("SliceExtView", NULL, sp__mindir_run_slice_ext),
    CODE("SplitTensor", NULL, sp__mindir_run_split_tensor),
    CODE("Chunk", NULL, sp__mindir_run_chunk),
    CODE("ClampScalar", NULL, sp__mindir_run_clamp),
    CODE("ClampTensor", NULL, sp__mindir_run_clamp),
    TEXT("LogSoftmax", "log_softmax", "_ axis"),
    TEXT("Softmax", "softmax", "_ axis"),
};

/* Its inputs, then its attributes. */
static const char *default_inputs(sp__arena *arena, const sp_op *op)
{
    sp_mindir_text a = {.used = 0};
    const sp_inputs *in = sp__op_inputs(op);
    for (int i = 0; i < in->n; i++)
        sp__mindir_put(&a, "%s%s", a.used ? " " : "",
                       in->variadic && i == in->n - 1 ? "*"
                       : in->optional >> i & 1        ? "_?"
                                                      : "_");
    for (int i = 0; i < op->n_attrs; i++) sp__mindir_put(&a, "%s%s", a.used ? " " : "", op->attrs[i].name);
    return a.used < sizeof a.text ? sp__arena_text(arena, a.text) : NULL;
}

const sp_mindir_rule *sp__mindir_rule(sp__arena *arena, const char *type)
{
    if (!strncmp(type, "S_Prim_", 7) || !strncmp(type, "S-Prim-", 7)) type += 7;
    if (sp__used_watched()) sp__used_note(SP_USED_PRIMITIVE, type);
    const char *op_name = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].mindir, type)) continue;
        if (rules[i].run != sp__mindir_run_text || rules[i].inputs) return &rules[i];
        op_name = rules[i].op;
    }
    for (const sp_mindir_rule *r = sp__mindir_ext_rules; HAVE_EXT && r->mindir; r++)
        if (!strcmp(r->mindir, type)) return r;
    for (const sp_mindir_rule *r = sp__mindir_scalar_rules; HAVE_SCALAR && r->mindir; r++)
        if (!strcmp(r->mindir, type)) return r;
    for (int i = 0; i < sp_op_count(); i++) {
        const sp_op *op = sp_op_at(i);
        if (op_name ? strcmp(op->name, op_name) : !op->mindir || strcmp(op->mindir, type)) continue;
        sp_mindir_rule *rule = sp__arena_alloc(arena, sizeof *rule);
        const char *inputs = default_inputs(arena, op);
        if (!rule || !inputs) return NULL;
        *rule = (sp_mindir_rule){op->mindir, op->name, inputs, sp__mindir_run_text, SP_MINDIR_OPERATOR};
        return rule;
    }
    return NULL;
}

sp_mindir_control sp__mindir_control(const sp_mindir_rule *rule) { return rule->control; }

static unsigned written_operands(const sp_mindir_rule *rule)
{
    const sp_op *op = rule->op ? sp_op_find(rule->op) : NULL;
    return op ? op->writes : 0;
}

bool sp__mindir_writes(const sp_mindir_rule *rule)
{
    return written_operands(rule) || rule->run == sp__mindir_run_batch_norm;
}
bool sp__mindir_writes_first(const sp_mindir_rule *rule) { return written_operands(rule) & 1; }

sp_status sp__mindir_apply(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_status status = rule->run
                           ? rule->run(c, rule, out)
                           : sp__fail(SP_DECLINED, "is not in this build: SPORE_PRIMITIVES (cmake) does not name it");
    if (status != SP_OK) sp__error_context("%s", rule->mindir);
    return status;
}
