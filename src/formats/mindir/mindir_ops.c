/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops.c - primitives of MindIR done with our operators.
 *
 * Most differ only in how arguments are passed, so a rule is text. Its `inputs` say what input k of a MindIR node is:
 *     _     an operand              _?    an operand that may be None       *     a tuple of operands
 *     -     nothing we need         name  attribute `name` of our operator; name<other: called `other` in MindIR
 * Attributes that are not among the inputs are looked up by name: before 2.3 they were attributes of the primitive.
 * Primitives without a rule but with an operator that has their name (sp_op.mindir) get one made of its inputs and attributes
 * in order. What is left has a function. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir.h"
#include "ir/op_impl.h"

typedef struct mi_rule {
    const char *mindir, *op, *inputs;
    sp_status (*run)(mi_call *c, const struct mi_rule *rule, mi_value **out);
    mi_control control;
} mi_rule;

enum { TEXT_BYTES = 4096, RESULTS_MAX = 1024 };

/* --- values ------------------------------------------------------------------------------------------------------ */

static mi_value *new_value(mi_call *c, mi_kind kind, int n)
{
    mi_value *v = sp__arena_alloc(c->arena, sizeof *v);
    if (!v || (n && !(v->items = sp__arena_alloc(c->arena, (size_t)n * sizeof *v->items)))) return NULL;
    v->kind = kind;
    v->n = n;
    return v;
}

mi_value *sp__mindir_tensor(sp__arena *arena, sp_tensor *t)
{
    mi_value *v = sp__arena_alloc(arena, sizeof *v);
    if (!v) return NULL;
    v->kind = MI_TENSOR;
    v->t = t;
    return v;
}

static sp_status give(mi_call *c, sp_tensor *t, mi_value **out)
{
    if (!t) return sp__builder_status(c->b);
    return (*out = sp__mindir_tensor(c->arena, t)) ? SP_OK : SP_NOMEM;
}

static sp_status give_number(mi_call *c, mi_kind kind, int64_t i, double f, mi_value **out)
{
    if (!(*out = new_value(c, kind, 0))) return SP_NOMEM;
    (*out)->i = i;
    (*out)->f = f;
    return SP_OK;
}

sp_status sp__mindir_as_tensor(mi_call *c, const mi_value *v, sp_tensor **out)
{
    sp_tensor *t;
    switch (v->kind) {
    case MI_TENSOR: *out = v->t; return SP_OK;
    case MI_INT: SP_TRY(sp_tensor_create_i64(SP_DTYPE_I64, v->i, &t)); break;
    case MI_BOOL: SP_TRY(sp_tensor_create_i64(SP_DTYPE_BOOL, v->i, &t)); break;
    case MI_FLOAT: SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, v->f, &t)); break;
    case MI_TUPLE: {
        int64_t n = v->n, *data;
        SP_TRY(sp_tensor_create(SP_DTYPE_I64, 1, &n, &t));
        data = sp_tensor_data(t);
        for (int i = 0; i < v->n; i++) {
            if (v->items[i]->kind != MI_INT && v->items[i]->kind != MI_BOOL) {
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

const mi_value *sp__mindir_attr(const mi_call *c, const char *name)
{
    for (int i = 0; i < c->primitive->n_attrs; i++)
        if (!strcmp(c->primitive->attrs[i].name, name)) return c->primitive->attrs[i].value;
    return NULL;
}

/* The numbers in a value: one, a tuple of them, or a tensor whose contents are known. */
static sp_status take_ints(const mi_value *v, int max, int64_t *out, int *n)
{
    *n = 0;
    if (v->kind == MI_TUPLE) {
        for (int i = 0; i < v->n; i++) {
            int got;
            SP_CHECK(*n < max, SP_FORMAT, "%d numbers are given, at most %d are expected", v->n, max);
            SP_TRY(take_ints(v->items[i], max - *n, out + *n, &got));
            *n += got;
        }
        return SP_OK;
    }
    if (v->kind == MI_TENSOR) {
        SP_CHECK(!sp_tensor_is_symbol(v->t), SP_SYMBOL, "the contents of a tensor decide about shapes");
        sp_tensor *flat;
        SP_CHECK(sp_tensor_count(v->t) <= max, SP_FORMAT, "%lld numbers are given, at most %d are expected",
                 (long long)sp_tensor_count(v->t), max);
        SP_TRY(sp_tensor_contiguous(v->t, &flat));
        sp_dtype d = sp_tensor_dtype(flat);
        const void *data = sp_tensor_data(flat);
        sp_status status = d == SP_DTYPE_I64 || d == SP_DTYPE_I32 ? SP_OK : sp__fail(SP_FORMAT, "numbers are given as %s", sp_dtype_name(d));
        for (int64_t i = 0; status == SP_OK && i < sp_tensor_count(flat); i++)
            out[(*n)++] = d == SP_DTYPE_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
        sp_tensor_release(flat);
        return status;
    }
    SP_CHECK(v->kind == MI_INT || v->kind == MI_BOOL, SP_FORMAT, "a value that is not an integer is given where one is expected");
    out[(*n)++] = v->i;
    return SP_OK;
}

static sp_status take_int(const mi_value *v, int64_t *out)
{
    int n;
    SP_TRY(take_ints(v, 1, out, &n));
    SP_CHECK(n == 1, SP_FORMAT, "no number is given where one is expected");
    return SP_OK;
}

/* Input k if there, else the attribute, else nothing. */
static const mi_value *argument(const mi_call *c, int k, const char *name)
{
    if (k >= 0 && k < c->n_in) return c->in[k];
    return name ? sp__mindir_attr(c, name) : NULL;
}

static sp_status int_argument(const mi_call *c, int k, const char *name, int64_t initial, int64_t *out)
{
    const mi_value *v = argument(c, k, name);
    *out = initial;
    return v && v->kind != MI_NONE ? take_int(v, out) : SP_OK;
}

static sp_status operand(mi_call *c, int k, sp_tensor **out)
{
    SP_CHECK(k < c->n_in, SP_FORMAT, "%s has %d inputs, input %d is needed", c->primitive->type, c->n_in, k);
    return sp__mindir_as_tensor(c, c->in[k], out);
}

/* --- texts of attributes ----------------------------------------------------------------------------------------- */

typedef struct {
    char text[TEXT_BYTES];
    size_t used;
} attr_text;

static void put(attr_text *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(attr_text *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(a->text + a->used, sizeof a->text - a->used, format, list);
    va_end(list);
    a->used = n < 0 || a->used + (size_t)n >= sizeof a->text ? sizeof a->text : a->used + (size_t)n;
}

static sp_status put_value(attr_text *a, const mi_value *v)
{
    switch (v->kind) {
    case MI_NONE: put(a, "None"); return SP_OK;
    case MI_INT: put(a, "%lld", (long long)v->i); return SP_OK;
    case MI_BOOL: put(a, v->i ? "True" : "False"); return SP_OK;
    case MI_FLOAT: put(a, isinf(v->f) ? (v->f > 0 ? "inf" : "-inf") : "%.17g", v->f); return SP_OK;
    case MI_DTYPE: put(a, "%s", sp_dtype_name(v->dtype)); return SP_OK;
    case MI_TEXT:
        SP_CHECK(!strpbrk(v->s, "'\"\\,"), SP_FORMAT, "the text '%s' cannot be an attribute", v->s);
        put(a, "%s", v->s);
        return SP_OK;
    case MI_TUPLE:
        put(a, "(");
        for (int i = 0; i < v->n; i++) {
            SP_TRY(put_value(a, v->items[i]));
            put(a, ",");
        }
        put(a, ")");
        return SP_OK;
    case MI_TENSOR: {
        int64_t ints[64];
        int n;
        double f;
        SP_CHECK(!sp_tensor_is_symbol(v->t), SP_SYMBOL, "the contents of a tensor decide about attributes");
        if (sp_tensor_count(v->t) == 1 && sp_dtype_kind(sp_tensor_dtype(v->t)) == 'f') {
            SP_TRY(sp_tensor_item_f64(v->t, &f));
            put(a, "%.17g", f);
            return SP_OK;
        }
        SP_TRY(take_ints(v, 64, ints, &n));
        if (sp_tensor_rank(v->t) == 0) {
            put(a, "%lld", (long long)ints[0]);
            return SP_OK;
        }
        put(a, "(");
        for (int i = 0; i < n; i++) put(a, "%lld,", (long long)ints[i]);
        put(a, ")");
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
static sp_status put_attr(attr_text *a, const sp_attr *attr, const mi_value *v)
{
    static const char *const formats[] = {"NCHW", "NHWC"}, *const pads[] = {"pad", "same", "valid"},
                             *const reductions[] = {"sum", "mean", "none"};
    if (v->kind == MI_NONE && attr->initial && strcmp(attr->initial, "None")) return SP_OK;
    put(a, "%s%s=", a->used ? ", " : "", attr->name);
    if (attr->type == SP_ATTR_DTYPE && v->kind == MI_INT) {
        /* numbers of MindSpore's own list of types */
        static const struct { int64_t number; const char *name; } types[] = {
            {30, "bool"}, {32, "int8"}, {33, "int16"}, {34, "int32"}, {35, "int64"}, {37, "uint8"}, {38, "uint16"}, {39, "uint32"},
            {40, "uint64"}, {42, "float16"}, {43, "float32"}, {44, "float64"}, {45, "bfloat16"}, {48, "complex64"}, {49, "complex128"}};
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (types[i].number == v->i) return put(a, "%s", types[i].name), SP_OK;
        return sp__fail(SP_FORMAT, "%s is type number %lld, which is not known", attr->name, (long long)v->i);
    }
    if (attr->type == SP_ATTR_TEXT && v->kind == MI_INT) {
        bool is_pad = !strcmp(attr->name, "pad_mode"), is_reduction = !strcmp(attr->name, "reduction");
        SP_CHECK(v->i >= 0 && v->i < (is_pad || is_reduction ? 3 : 2), SP_FORMAT, "%s is %lld, which is not known", attr->name,
                 (long long)v->i);
        put(a, "%s", is_pad ? pads[v->i] : is_reduction ? reductions[v->i] : formats[v->i]);
        return SP_OK;
    }
    return put_value(a, v);
}

/* --- applying ---------------------------------------------------------------------------------------------------- */

static sp_status apply_op(mi_call *c, const char *name, const char *text, int n_in, sp_tensor *const *in, mi_value **out)
{
    const sp_op *op = sp_op_find(name);
    sp_attr_text kept = {.n_blocks = 0};
    int n = 0;
    SP_CHECK(op, SP_KEY, "there is no operator '%s'", name);
    void *attrs = sp__arena_alloc(c->arena, op->attrs_bytes + 1);
    int room = op->n_out < 0 ? RESULTS_MAX : SP_OUT_MAX;
    sp_tensor **results = sp__arena_alloc(c->arena, (size_t)room * sizeof *results);
    if (!attrs || !results) return SP_NOMEM;
    sp_status status = sp__attrs_parse(op, text, attrs, &kept);
    if (status == SP_OK) status = sp__builder_apply_many(c->b, op, attrs, n_in, in, room, results, &n);
    sp__attr_text_free(&kept);
    SP_TRY(status);
    if (n == 1 && op->n_out >= 0) return give(c, results[0], out);
    if (!(*out = new_value(c, MI_TUPLE, n))) return SP_NOMEM;
    for (int i = 0; i < n; i++) SP_TRY(give(c, results[i], &(*out)->items[i]));
    return SP_OK;
}

/* One operator with one result. */
static sp_status call1(mi_call *c, const char *name, int n_in, sp_tensor *const *in, mi_value **out, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
static sp_status call1(mi_call *c, const char *name, int n_in, sp_tensor *const *in, mi_value **out, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return apply_op(c, name, text, n_in, in, out);
}

static sp_status take_operands(mi_call *c, const mi_value *v, int max, sp_tensor **in, int *n)
{
    if (v->kind != MI_TUPLE) {
        SP_CHECK(*n < max, SP_FORMAT, "more than %d operands", max);
        return sp__mindir_as_tensor(c, v, &in[(*n)++]);
    }
    for (int i = 0; i < v->n; i++) SP_TRY(take_operands(c, v->items[i], max, in, n));
    return SP_OK;
}

static sp_status run_text(mi_call *c, const mi_rule *rule, mi_value **out)
{
    const sp_op *op = sp_op_find(rule->op);
    attr_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *in[RESULTS_MAX];
    int n = 0, k = 0;
    if (!a) return SP_NOMEM;
    for (const char *p = rule->inputs; *p;) {
        size_t bytes = strcspn(p, " ");
        const mi_value *v = k < c->n_in ? c->in[k] : NULL;
        if (*p == '_') {
            bool left_out = !v || v->kind == MI_NONE || v->kind == MI_MONAD;
            SP_CHECK(!left_out || p[1] == '?', SP_FORMAT, "%s has %d inputs, input %d is needed", rule->mindir, c->n_in, k);
            in[n] = NULL;
            if (!left_out) SP_TRY(sp__mindir_as_tensor(c, v, &in[n]));
            n++;
        } else if (*p == '*') {
            SP_CHECK(v, SP_FORMAT, "%s has no inputs", rule->mindir);
            /* Before 1.7 operands that belong together were not put into a tuple. */
            if (v->kind == MI_TUPLE) SP_TRY(take_operands(c, v, RESULTS_MAX, in, &n));
            else
                for (; k < c->n_in && c->in[k]->kind == MI_TENSOR; k++) SP_TRY(take_operands(c, c->in[k], RESULTS_MAX, in, &n));
            if (v->kind != MI_TUPLE) k--;
        } else if (*p != '-') {
            size_t ours = strcspn(p, "< ");
            char other[64];
            snprintf(other, sizeof other, "%.*s", (int)(ours < bytes ? bytes - ours - 1 : bytes), ours < bytes ? p + ours + 1 : p);
            const sp_attr *attr = attr_of(op, p, ours);
            SP_CHECK(attr, SP_KEY, "rule of %s: %s has no attribute '%.*s'", rule->mindir, op->name, (int)ours, p);
            if (!v || v->kind == MI_MONAD) v = sp__mindir_attr(c, other);
            if (v) SP_TRY(put_attr(a, attr, v));
        }
        k++;
        p += bytes;
        p += *p == ' ';
    }
    SP_CHECK(a->used < sizeof a->text, SP_FORMAT, "%s has attributes that are too long", rule->mindir);
    return apply_op(c, rule->op, a->text, n, in, out);
}

/* --- convolution and pooling ------------------------------------------------------------------------------------- */

/* Numbers for the two spatial axes of one, two or (in the order of the layout) four. */
static sp_status spatial(const mi_value *v, bool last, int rank, attr_text *a, const char *name)
{
    int64_t x[8];
    int n;
    if (!v || v->kind == MI_NONE) return SP_OK;
    SP_TRY(take_ints(v, 8, x, &n));
    int from = n == rank + 2 ? (last ? 1 : 2) : 0, count = n == rank + 2 ? rank : n;
    SP_CHECK(count == 1 || count == rank, SP_FORMAT, "%s has %d numbers", name, n);
    put(a, "%s%s=(", a->used ? ", " : "", name);
    for (int i = 0; i < rank; i++) put(a, "%lld,", (long long)x[from + (count == 1 ? 0 : i)]);
    put(a, ")");
    return SP_OK;
}

static sp_status text_of(const mi_value *v, const char *const *names, int n_names, const char *initial, char *out, size_t room)
{
    snprintf(out, room, "%s", initial);
    if (!v || v->kind == MI_NONE) return SP_OK;
    if (v->kind == MI_INT) {
        SP_CHECK(v->i >= 0 && v->i < n_names, SP_FORMAT, "%lld stands where one of %d names is expected", (long long)v->i, n_names);
        snprintf(out, room, "%s", names[v->i]);
        return SP_OK;
    }
    SP_CHECK(v->kind == MI_TEXT && strlen(v->s) < room, SP_FORMAT, "a name is expected");
    for (size_t i = 0; i <= strlen(v->s); i++) out[i] = (char)(v->s[i] >= 'A' && v->s[i] <= 'Z' ? v->s[i] + 32 : v->s[i]);
    return SP_OK;
}

static const char *const layouts[] = {"nchw", "nhwc"}, *const pad_modes[] = {"pad", "same", "valid"};

static sp_status to_channels_first(mi_call *c, sp_tensor *x, sp_tensor **out)
{
    *out = sp_builder_call(c->b, "transpose", "perm=(0,3,1,2)", 1, &x);
    return sp__builder_status(c->b);
}

static sp_status to_channels_last(mi_call *c, mi_value **io)
{
    sp_tensor *x = (*io)->t;
    return give(c, sp_builder_call(c->b, "transpose", "perm=(0,2,3,1)", 1, &x), io);
}

static sp_status put_pads(mi_call *c, attr_text *a, int rank)
{
    char mode[16];
    int64_t pads[8];
    int n;
    SP_TRY(text_of(sp__mindir_attr(c, "pad_mode"), pad_modes, 3, "valid", mode, sizeof mode));
    put(a, "%spad_mode=%s", a->used ? ", " : "", mode);
    const mi_value *v = sp__mindir_attr(c, "pad");
    if (!v) v = sp__mindir_attr(c, "pad_list");
    if (strcmp(mode, "pad") || !v) return SP_OK;
    SP_TRY(take_ints(v, 8, pads, &n));
    SP_CHECK(n == 1 || n == 2 * rank, SP_FORMAT, "pad has %d numbers", n);
    put(a, ", pad=(");
    for (int i = 0; i < n; i++) put(a, "%lld,", (long long)pads[i]);
    put(a, ")");
    return SP_OK;
}

static sp_status run_conv(mi_call *c, const mi_rule *rule, mi_value **out)
{
    attr_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *in[3] = {NULL}; /* without a bias */
    char layout[16];
    int64_t group;
    int rank = !strcmp(rule->op, "conv3d") ? 3 : 2;
    if (!a) return SP_NOMEM;
    SP_TRY(operand(c, 0, &in[0]));
    SP_TRY(operand(c, 1, &in[1]));
    const mi_value *format = sp__mindir_attr(c, "format");
    SP_TRY(text_of(format ? format : sp__mindir_attr(c, "data_format"), layouts, 2, "nchw", layout, sizeof layout));
    bool last = !strcmp(layout, "nhwc");
    SP_TRY(spatial(sp__mindir_attr(c, "stride"), last, rank, a, "stride"));
    SP_TRY(spatial(sp__mindir_attr(c, "dilation"), last, rank, a, "dilation"));
    SP_TRY(put_pads(c, a, rank));
    SP_TRY(int_argument(c, -1, sp__mindir_attr(c, "group") ? "group" : "groups", 1, &group));
    put(a, ", group=%lld", (long long)group);
    if (last) {
        SP_TRY(to_channels_first(c, in[0], &in[0]));
        SP_TRY(to_channels_first(c, in[1], &in[1]));
    }
    SP_TRY(apply_op(c, rule->op, a->text, 3, in, out));
    return last ? to_channels_last(c, out) : SP_OK;
}

/* Attributes of the primitive, since 2.3 also inputs: x, kernel_size, strides, pad_mode, data_format. */
static sp_status run_pool(mi_call *c, const mi_rule *rule, mi_value **out)
{
    attr_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *x;
    char layout[16], mode[16];
    if (!a) return SP_NOMEM;
    SP_TRY(operand(c, 0, &x));
    const mi_value *format = argument(c, 4, "format");
    SP_TRY(text_of(format ? format : sp__mindir_attr(c, "data_format"), layouts, 2, "nchw", layout, sizeof layout));
    SP_TRY(text_of(argument(c, 3, "pad_mode"), pad_modes, 3, "valid", mode, sizeof mode));
    bool last = !strcmp(layout, "nhwc");
    SP_TRY(spatial(argument(c, 1, "kernel_size"), last, 2, a, "kernel_size"));
    SP_TRY(spatial(argument(c, 2, "strides"), last, 2, a, "stride"));
    put(a, ", pad_mode=%s", mode);
    if (last) SP_TRY(to_channels_first(c, x, &x));
    SP_TRY(apply_op(c, rule->op, a->text, 1, &x, out));
    return last ? to_channels_last(c, out) : SP_OK;
}

static sp_status run_bias_add(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *in[2];
    char layout[16];
    int64_t dims[SP_RANK_MAX];
    (void)rule;
    SP_TRY(operand(c, 0, &in[0]));
    SP_TRY(operand(c, 1, &in[1]));
    const mi_value *format = argument(c, 2, "format");
    SP_TRY(text_of(format ? format : sp__mindir_attr(c, "data_format"), layouts, 2, "nchw", layout, sizeof layout));
    int rank = sp_tensor_rank(in[0]);
    if (strcmp(layout, "nhwc") && rank > 2) { /* along axis 1 */
        attr_text a = {.used = 0};
        dims[0] = sp_tensor_count(in[1]);
        put(&a, "shape=(%lld,", (long long)dims[0]);
        for (int i = 2; i < rank; i++) put(&a, "1,");
        put(&a, ")");
        if (!(in[1] = sp_builder_call(c->b, "reshape", a.text, 1, &in[1]))) return sp__builder_status(c->b);
    }
    return call1(c, "add", 2, in, out, "%s", "");
}

/* --- shapes ------------------------------------------------------------------------------------------------------ */

static sp_status run_shape(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *x;
    SP_TRY(operand(c, 0, &x));
    int rank = sp_tensor_rank(x);
    SP_CHECK(rank >= 0, SP_SYMBOL, "the rank of a tensor is not known before the model runs");
    if (!(*out = new_value(c, MI_TUPLE, rank))) return SP_NOMEM;
    for (int i = 0; i < rank; i++) {
        SP_CHECK(sp_tensor_dims(x)[i] >= 0, SP_SYMBOL, "a dimension is not known before the model runs");
        SP_TRY(give_number(c, MI_INT, sp_tensor_dims(x)[i], 0, &(*out)->items[i]));
    }
    if (strcmp(rule->mindir, "TensorShape") && strcmp(rule->mindir, "DynamicShape")) return SP_OK;
    sp_tensor *t;
    SP_TRY(sp__mindir_as_tensor(c, *out, &t));
    return give(c, t, out);
}

static sp_status reshape_to(mi_call *c, sp_tensor *x, int rank, const int64_t *dims, mi_value **out)
{
    attr_text a = {.used = 0};
    put(&a, "shape=(");
    for (int i = 0; i < rank; i++) put(&a, "%lld,", (long long)dims[i]);
    put(&a, ")");
    return apply_op(c, "reshape", a.text, 1, &x, out);
}

static sp_status run_expand_dims(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *x;
    int64_t axis, dims[SP_RANK_MAX];
    (void)rule;
    SP_TRY(operand(c, 0, &x));
    SP_TRY(int_argument(c, 1, "axis", 0, &axis));
    int rank = sp_tensor_rank(x);
    if (axis < 0) axis += rank + 1;
    SP_CHECK(axis >= 0 && axis <= rank && rank < SP_RANK_MAX, SP_VALUE, "axis %lld is out of range for rank %d", (long long)axis, rank);
    for (int i = 0, k = 0; i <= rank; i++) dims[i] = i == axis ? 1 : sp_tensor_dims(x)[k++];
    return reshape_to(c, x, rank + 1, dims, out);
}

static sp_status run_squeeze(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *x;
    int64_t axes[SP_RANK_MAX], dims[SP_RANK_MAX];
    int n = 0, kept = 0;
    bool gone[SP_RANK_MAX] = {false};
    (void)rule;
    SP_TRY(operand(c, 0, &x));
    int rank = sp_tensor_rank(x);
    const mi_value *v = argument(c, 1, "axis");
    if (v && v->kind != MI_NONE) SP_TRY(take_ints(v, SP_RANK_MAX, axes, &n));
    for (int i = 0; i < n; i++) {
        int64_t at = axes[i] < 0 ? axes[i] + rank : axes[i];
        SP_CHECK(at >= 0 && at < rank && sp_tensor_dims(x)[at] == 1, SP_VALUE, "axis %lld cannot be squeezed", (long long)axes[i]);
        gone[at] = true;
    }
    for (int i = 0; i < rank; i++)
        if (n ? !gone[i] : sp_tensor_dims(x)[i] != 1) dims[kept++] = sp_tensor_dims(x)[i];
    return reshape_to(c, x, kept, dims, out);
}

static sp_status run_flatten(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *x;
    int64_t start = 1, end = -1, dims[SP_RANK_MAX], count = 1;
    int n = 0;
    SP_TRY(operand(c, 0, &x));
    int rank = sp_tensor_rank(x);
    if (!strcmp(rule->mindir, "FlattenExt")) {
        SP_TRY(int_argument(c, 1, "start_dim", 0, &start));
        SP_TRY(int_argument(c, 2, "end_dim", -1, &end));
    }
    if (start < 0) start += rank;
    if (end < 0) end += rank;
    if (rank < 2 && !strcmp(rule->mindir, "Flatten")) return reshape_to(c, x, 2, (int64_t[]){sp_tensor_count(x), 1}, out);
    for (int i = 0; i < rank; i++) {
        int64_t d = sp_tensor_dims(x)[i];
        if (i < start || i > end) dims[n++] = d;
        else if (i == end) dims[n++] = count * d;
        else count *= d;
    }
    return reshape_to(c, x, n, dims, out);
}

/* x, begin, end, strides and five masks, whose bit i belongs to entry i. */
static sp_status run_strided_slice(mi_call *c, const mi_rule *rule, mi_value **out)
{
    static const char *const names[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
    int64_t spec[3][SP_RANK_MAX], mask[5], dims[SP_RANK_MAX];
    int n[3], rank_out = 0;
    sp_tensor *x;
    attr_text start = {.used = 0}, stop = {.used = 0}, step = {.used = 0};
    bool shrink[SP_RANK_MAX] = {false}, fresh[2 * SP_RANK_MAX] = {false};
    (void)rule;
    SP_TRY(operand(c, 0, &x));
    SP_CHECK(c->n_in >= 4, SP_FORMAT, "StridedSlice has %d inputs, it needs 4", c->n_in);
    for (int i = 0; i < 3; i++) SP_TRY(take_ints(c->in[i + 1], SP_RANK_MAX, spec[i], &n[i]));
    SP_CHECK(n[0] == n[1] && n[1] == n[2], SP_FORMAT, "begin, end and strides have %d, %d and %d entries", n[0], n[1], n[2]);
    for (int i = 0; i < 5; i++) SP_TRY(int_argument(c, 4 + i, names[i], 0, &mask[i]));
    int rank = sp_tensor_rank(x), axis = 0, specs = 0;
    for (int i = 0; i < n[0]; i++) specs += !(mask[3] >> i & 1) && !(mask[2] >> i & 1);
    SP_CHECK(rank >= 0 && specs <= rank, SP_FORMAT, "%d dimensions are sliced of rank %d", specs, rank);
    put(&start, "start=(");
    put(&stop, "stop=(");
    put(&step, "step=(");
    int marks = 0; /* of the result before shrinking */
    for (int i = 0; i < n[0]; i++) {
        if (mask[2] >> i & 1) {
            int whole = rank - specs;
            for (int k = 0; k < whole; k++, axis++, marks++) {
                put(&start, "0,");
                put(&stop, "%lld,", (long long)sp_tensor_dims(x)[axis]);
                put(&step, "1,");
            }
            continue;
        }
        if (mask[3] >> i & 1) {
            SP_CHECK(marks < 2 * SP_RANK_MAX, SP_FORMAT, "too many dimensions");
            fresh[marks++] = true;
            continue;
        }
        int64_t size = sp_tensor_dims(x)[axis], by = spec[2][i], from = spec[0][i], to = spec[1][i];
        SP_CHECK(by != 0, SP_FORMAT, "a stride is 0");
        if (by < 0) {
            from = mask[0] >> i & 1 ? size - 1 : from < 0 ? from + size : from;
            to = mask[1] >> i & 1 ? -1 : to < 0 ? (to + size < 0 ? -1 : to + size) : to;
        } else {
            if (mask[0] >> i & 1) from = 0;
            if (mask[1] >> i & 1) to = size;
        }
        if (mask[4] >> i & 1) {
            if (from < 0) from += size;
            by = 1;
            to = from + 1;
            shrink[axis] = true;
        }
        put(&start, "%lld,", (long long)from);
        put(&stop, "%lld,", (long long)to);
        put(&step, "%lld,", (long long)by);
        axis++;
        marks++;
    }
    put(&start, "), %s), %s)", stop.text, step.text);
    SP_CHECK(start.used < sizeof start.text, SP_FORMAT, "the numbers are too long");
    SP_TRY(apply_op(c, "slice", start.text, 1, &x, out));
    if (!mask[3] && !mask[4]) return SP_OK;
    sp_tensor *y = (*out)->t;
    for (int i = 0, at = 0; i < marks || at < rank; i++) {
        SP_CHECK(rank_out < SP_RANK_MAX, SP_FORMAT, "the result has more than %d dimensions", SP_RANK_MAX);
        if (i < marks && fresh[i]) dims[rank_out++] = 1;
        else {
            if (at < rank && !shrink[at]) dims[rank_out++] = sp_tensor_dims(y)[at];
            at++;
        }
    }
    return reshape_to(c, y, rank_out, dims, out);
}

static sp_status run_reverse(mi_call *c, const mi_rule *rule, mi_value **out)
{
    int64_t axes[SP_RANK_MAX];
    int n;
    sp_tensor *x;
    attr_text start = {.used = 0}, stop = {.used = 0}, step = {.used = 0};
    (void)rule;
    SP_TRY(operand(c, 0, &x));
    const mi_value *v = argument(c, 1, "axis");
    SP_CHECK(v, SP_FORMAT, "ReverseV2 has no axis");
    SP_TRY(take_ints(v, SP_RANK_MAX, axes, &n));
    int rank = sp_tensor_rank(x);
    put(&start, "start=(");
    put(&stop, "stop=(");
    put(&step, "step=(");
    for (int i = 0; i < rank; i++) {
        bool turned = false;
        for (int k = 0; k < n; k++) turned |= axes[k] == i || axes[k] + rank == i;
        long long size = (long long)sp_tensor_dims(x)[i];
        SP_CHECK(size >= 0, SP_SYMBOL, "a dimension is not known before the model runs");
        put(&start, "%lld,", turned ? size - 1 : 0);
        put(&stop, "%lld,", turned ? -1 : size);
        put(&step, "%d,", turned ? -1 : 1);
    }
    put(&start, "), %s), %s)", stop.text, step.text);
    return apply_op(c, "slice", start.text, 1, &x, out);
}

static sp_status run_split(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *x;
    int64_t axis, number;
    attr_text *a = sp__arena_alloc(c->arena, sizeof *a);
    (void)rule;
    if (!a) return SP_NOMEM;
    SP_TRY(operand(c, 0, &x));
    SP_TRY(int_argument(c, 1, "axis", 0, &axis));
    SP_TRY(int_argument(c, 2, "output_num", 1, &number));
    int rank = sp_tensor_rank(x);
    int64_t at = axis < 0 ? axis + rank : axis;
    SP_CHECK(at >= 0 && at < rank && number > 0 && sp_tensor_dims(x)[at] % number == 0 && number <= 500, SP_VALUE,
             "axis %lld cannot be split into %lld parts", (long long)axis, (long long)number);
    put(a, "axis=%lld, sizes=(", (long long)axis);
    for (int64_t i = 0; i < number; i++) put(a, "%lld,", (long long)(sp_tensor_dims(x)[at] / number));
    put(a, ")");
    return apply_op(c, "split", a->text, 1, &x, out);
}

/* --- others ------------------------------------------------------------------------------------------------------ */

/* x, h, c, w: the weights of a layer in one row: input, state, one bias (CPU) or two. */
static sp_status run_lstm(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *in[4], *part[4], *flat[7];
    int64_t input, hidden, layers, both, bias, at = 0;
    mi_value *v;
    (void)rule;
    for (int i = 0; i < 4; i++) SP_TRY(operand(c, i, &in[i]));
    SP_TRY(int_argument(c, -1, "input_size", 0, &input));
    SP_TRY(int_argument(c, -1, "hidden_size", 0, &hidden));
    SP_TRY(int_argument(c, -1, "num_layers", 1, &layers));
    SP_TRY(int_argument(c, -1, "bidirectional", 0, &both));
    SP_TRY(int_argument(c, -1, "has_bias", 1, &bias));
    SP_CHECK(layers == 1 && !both, SP_FORMAT, "an LSTM of several layers or directions in one node is not supported");
    SP_CHECK(hidden > 0 && hidden < 1 << 20 && input > 0 && input < 1 << 20, SP_FORMAT, "an LSTM of size %lld, %lld", (long long)input, (long long)hidden);
    int64_t sizes[4] = {4 * hidden * input, 4 * hidden * hidden, 4 * hidden, 4 * hidden}, count = sp_tensor_count(in[3]);
    int n_parts = bias ? (count == sizes[0] + sizes[1] + 2 * sizes[2] ? 4 : 3) : 2;
    for (int i = 0; i < n_parts; i++) at += sizes[i];
    SP_CHECK(at == count, SP_FORMAT, "an LSTM has %lld weights, it needs %lld", (long long)count, (long long)at);
    SP_TRY(reshape_to(c, in[3], 1, (int64_t[]){-1}, &v));
    sp_tensor *row = v->t;
    at = 0;
    for (int i = 0; i < n_parts; i++) {
        SP_TRY(call1(c, "slice", 1, &row, &v, "start=(%lld,), stop=(%lld,)", (long long)at, (long long)(at + sizes[i])));
        part[i] = v->t;
        at += sizes[i];
        if (i < 2) {
            SP_TRY(reshape_to(c, part[i], 2, (int64_t[]){4 * hidden, i ? hidden : input}, &v));
            part[i] = v->t;
        }
    }
    flat[0] = in[0];
    for (int i = 1; i < 3; i++) {
        SP_TRY(reshape_to(c, in[i], 2, (int64_t[]){-1, hidden}, &v));
        flat[i] = v->t;
    }
    flat[3] = part[0];
    flat[4] = part[1];
    flat[5] = n_parts > 2 ? part[2] : NULL;
    flat[6] = n_parts > 3 ? part[3] : NULL;
    sp_tensor *all[8] = {flat[0], flat[1], flat[2], flat[3], flat[4], flat[5], flat[6], NULL};
    SP_TRY(apply_op(c, "rnn_layer", "mode=lstm", 8, all, &v));
    if (!(*out = new_value(c, MI_TUPLE, 5))) return SP_NOMEM;
    (*out)->items[0] = v->items[0];
    for (int i = 1; i < 3; i++) SP_TRY(reshape_to(c, v->items[i]->t, 3, (int64_t[]){1, -1, hidden}, &(*out)->items[i]));
    for (int i = 3; i < 5; i++) (*out)->items[i] = v->items[0]; /* kept for the gradient, not for us */
    return SP_OK;
}

/* numbers known now: a op b */
static sp_status run_scalar(mi_call *c, const mi_rule *rule, mi_value **out)
{
    SP_CHECK(c->n_in >= 2, SP_FORMAT, "%s has %d inputs, it needs 2", rule->mindir, c->n_in);
    const mi_value *x = c->in[0], *y = c->in[1];
    if (x->kind != MI_TENSOR && y->kind != MI_TENSOR) {
        bool whole = x->kind != MI_FLOAT && y->kind != MI_FLOAT;
        double a = x->kind == MI_FLOAT ? x->f : (double)x->i, b = y->kind == MI_FLOAT ? y->f : (double)y->i, d = 0;
        int64_t i = 0;
        mi_kind kind = whole ? MI_INT : MI_FLOAT;
        const char *op = rule->op;
        if (!strcmp(op, "add")) i = (int64_t)((uint64_t)x->i + (uint64_t)y->i), d = a + b;
        else if (!strcmp(op, "sub")) i = (int64_t)((uint64_t)x->i - (uint64_t)y->i), d = a - b;
        else if (!strcmp(op, "mul")) i = (int64_t)((uint64_t)x->i * (uint64_t)y->i), d = a * b;
        else if (!strcmp(op, "div")) d = a / b, kind = MI_FLOAT;
        else if (!strcmp(op, "floor_div")) d = floor(a / b), i = (int64_t)d;
        else if (!strcmp(op, "floor_mod")) d = a - b * floor(a / b), i = (int64_t)d;
        else if (!strcmp(op, "less")) i = a < b, kind = MI_BOOL;
        else if (!strcmp(op, "less_equal")) i = a <= b, kind = MI_BOOL;
        else if (!strcmp(op, "greater")) i = a > b, kind = MI_BOOL;
        else if (!strcmp(op, "greater_equal")) i = a >= b, kind = MI_BOOL;
        else if (!strcmp(op, "equal")) i = a == b, kind = MI_BOOL;
        else return sp__fail(SP_FORMAT, "%s of numbers is not supported", rule->mindir);
        SP_CHECK(!whole || b != 0 || (strcmp(op, "floor_div") && strcmp(op, "floor_mod")), SP_FORMAT, "division by zero");
        return give_number(c, kind, i, d, out);
    }
    sp_tensor *in[2];
    for (int k = 0; k < 2; k++) SP_TRY(operand(c, k, &in[k]));
    return apply_op(c, rule->op, "", 2, in, out);
}

static sp_status run_like(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *x;
    attr_text a = {.used = 0};
    SP_TRY(operand(c, 0, &x));
    put(&a, "value=%s, dtype=%s, shape=(", rule->op, sp_dtype_name(sp_tensor_dtype(x)));
    for (int i = 0; i < sp_tensor_rank(x); i++) {
        SP_CHECK(sp_tensor_dims(x)[i] >= 0, SP_SYMBOL, "a dimension is not known before the model runs");
        put(&a, "%lld,", (long long)sp_tensor_dims(x)[i]);
    }
    put(&a, ")");
    return apply_op(c, "full", a.text, 0, NULL, out);
}

static sp_status run_zeros(mi_call *c, const mi_rule *rule, mi_value **out)
{
    int64_t dims[SP_RANK_MAX];
    int n;
    attr_text a = {.used = 0};
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "%s has no shape", rule->mindir);
    SP_TRY(take_ints(c->in[0], SP_RANK_MAX, dims, &n));
    const sp_attr dtype = {.name = "dtype", .type = SP_ATTR_DTYPE, .initial = "None"};
    put(&a, "value=%s, shape=(", rule->op);
    for (int i = 0; i < n; i++) put(&a, "%lld,", (long long)dims[i]);
    put(&a, ")");
    if (c->n_in > 1) SP_TRY(put_attr(&a, &dtype, c->in[1]));
    return apply_op(c, "full", a.text, 0, NULL, out);
}

static sp_status run_reduce_all_axes(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_tensor *x;
    SP_TRY(operand(c, 0, &x));
    return apply_op(c, rule->op, "", 1, &x, out);
}

static sp_status run_dropout(mi_call *c, const mi_rule *rule, mi_value **out)
{
    (void)rule, (void)out;
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "Dropout has no input");
    return sp__fail(SP_FORMAT, "the file holds a net that was exported for training: Dropout is not supported here");
}

/* --- the table --------------------------------------------------------------------------------------------------- */

#define TEXT(mindir_, op_, inputs_) {.mindir = mindir_, .op = op_, .inputs = inputs_, .run = run_text}
#define CODE(mindir_, op_, run_) {.mindir = mindir_, .op = op_, .run = run_}
#define CONTROL(mindir_, control_) {.mindir = mindir_, .control = control_}

static const mi_rule rules[] = {
    CONTROL("MakeTuple", MI_MAKE_TUPLE), CONTROL("MakeList", MI_MAKE_TUPLE), CONTROL("make_list", MI_MAKE_TUPLE),
    CONTROL("TupleGetItem", MI_GET_ITEM), CONTROL("ListGetItem", MI_GET_ITEM), CONTROL("list_getitem", MI_GET_ITEM),
    CONTROL("RealTupleGetItem", MI_GET_ITEM), CONTROL("RealMakeTuple", MI_MAKE_TUPLE),
    CONTROL("Depend", MI_FIRST), CONTROL("Load", MI_FIRST), CONTROL("StopGradient", MI_FIRST), CONTROL("Identity", MI_FIRST),
    CONTROL("TensorMove", MI_FIRST), CONTROL("Return", MI_FIRST), CONTROL("return", MI_FIRST), CONTROL("stop_gradient", MI_FIRST),
    CONTROL("UpdateState", MI_STATE), CONTROL("Partial", MI_PARTIAL), CONTROL("partial", MI_PARTIAL),
    CONTROL("Switch", MI_SWITCH), CONTROL("switch", MI_SWITCH), CONTROL("SwitchLayer", MI_SWITCH_LAYER),
    CONTROL("switch_layer", MI_SWITCH_LAYER),

    CODE("Conv2D", "conv2d", run_conv), CODE("Conv3D", "conv3d", run_conv), CODE("DepthwiseConv2dNative", "conv2d", run_conv),
    CODE("MaxPool", "max_pool2d", run_pool), CODE("AvgPool", "avg_pool2d", run_pool), CODE("BiasAdd", "add", run_bias_add),
    CODE("Shape", NULL, run_shape), CODE("TensorShape", NULL, run_shape), CODE("DynamicShape", NULL, run_shape),
    CODE("ExpandDims", NULL, run_expand_dims), CODE("Squeeze", NULL, run_squeeze), CODE("Flatten", NULL, run_flatten),
    CODE("FlattenExt", NULL, run_flatten), CODE("StridedSlice", NULL, run_strided_slice), CODE("ReverseV2", NULL, run_reverse),
    CODE("Split", NULL, run_split), CODE("LSTM", NULL, run_lstm), CODE("Dropout", NULL, run_dropout),
    CODE("ZerosLike", "0", run_like), CODE("OnesLike", "1", run_like), CODE("ZerosLikeExt", "0", run_like),
    CODE("OnesLikeExt", "1", run_like), CODE("Zeros", "0", run_zeros), CODE("Ones", "1", run_zeros),
    CODE("Max", "reduce_max", run_reduce_all_axes), CODE("Min", "reduce_min", run_reduce_all_axes),

    CODE("ScalarAdd", "add", run_scalar), CODE("ScalarSub", "sub", run_scalar), CODE("ScalarMul", "mul", run_scalar),
    CODE("ScalarDiv", "div", run_scalar), CODE("ScalarFloorDiv", "floor_div", run_scalar), CODE("ScalarMod", "floor_mod", run_scalar),
    CODE("ScalarLt", "less", run_scalar), CODE("ScalarLe", "less_equal", run_scalar), CODE("ScalarGt", "greater", run_scalar),
    CODE("ScalarGe", "greater_equal", run_scalar), CODE("ScalarEq", "equal", run_scalar),
    CODE("scalar_add", "add", run_scalar), CODE("scalar_sub", "sub", run_scalar), CODE("scalar_mul", "mul", run_scalar),
    CODE("scalar_lt", "less", run_scalar), CODE("scalar_gt", "greater", run_scalar), CODE("scalar_eq", "equal", run_scalar),

    TEXT("TensorAdd", "add", "_ _"), TEXT("Adds", "add", "_ _"), TEXT("Subs", "sub", "_ _"), TEXT("Muls", "mul", "_ _"),
    TEXT("Divs", "div", "_ _"), TEXT("Div", "div", "_ _"), TEXT("RealDiv", "div", "_ _"), TEXT("LessScalar", "less", "_ _"),
    TEXT("LessEqualScalar", "less_equal", "_ _"), TEXT("GreaterScalar", "greater", "_ _"), TEXT("Mod", "floor_mod", "_ _"),
    TEXT("GreaterEqualScalar", "greater_equal", "_ _"), TEXT("EqualScalar", "equal", "_ _"), TEXT("NotEqualScalar", "not_equal", "_ _"),
    TEXT("PowTensorScalar", "pow", "_ _"), TEXT("PowScalarTensor", "pow", "_ _"),
    TEXT("MatMul", "matmul", "_ _ transpose_a transpose_b"), TEXT("BatchMatMul", "matmul", "_ _ transpose_a transpose_b"),
    TEXT("MatMulExt", "matmul", "_ _"), TEXT("BatchMatMulExt", "matmul", "_ _"), TEXT("Mm", "matmul", "_ _"),
    TEXT("Dense", "dense", "_ _ _?"),
    TEXT("ReduceMean", "reduce_mean", "_ axis keepdims<keep_dims"), TEXT("ReduceSum", "reduce_sum", "_ axis keepdims<keep_dims -"),
    TEXT("ReduceMax", "reduce_max", "_ axis keepdims<keep_dims"), TEXT("ReduceMin", "reduce_min", "_ axis keepdims<keep_dims"),
    TEXT("ReduceProd", "reduce_prod", "_ axis keepdims<keep_dims"), TEXT("ReduceAll", "reduce_all", "_ axis keepdims<keep_dims"),
    TEXT("ReduceAny", "reduce_any", "_ axis keepdims<keep_dims"),
    TEXT("SumExt", "sum", "_ axis keepdims dtype"), TEXT("MeanExt", "mean", "_ axis keepdims dtype"),
    TEXT("ProdExt", "prod", "_ axis keepdims dtype"),
    TEXT("Argmax", "argmax", "_ axis dtype<output_type"), TEXT("Argmin", "argmin", "_ axis dtype<output_type"),
    TEXT("ArgMaxExt", "argmax", "_ axis keepdims"), TEXT("ArgMinExt", "argmin", "_ axis keepdims"),
    TEXT("GeLU", "gelu_tanh", "_"), TEXT("GeluExt", "gelu", "_"), TEXT("Gelu", "gelu_tanh", "_"),
    TEXT("Concat", "concat", "* axis"), TEXT("Stack", "stack", "* axis"), TEXT("StackExt", "stack", "* axis"),
    TEXT("AddN", "addn", "*"), TEXT("Unstack", "unstack", "_ axis"), TEXT("Unpack", "unstack", "_ axis"),
    TEXT("Pack", "stack", "* axis"), TEXT("SplitWithSize", "split", "_ sizes axis"),
    TEXT("Cast", "cast", "_ dtype<dst_type"), TEXT("Gather", "gather", "_ _ axis batch_dims"), TEXT("GatherV2", "gather", "_ _ axis"),
    TEXT("Select", "select", "_ _ _"), TEXT("Reshape", "reshape", "_ shape"), TEXT("Transpose", "transpose", "_ perm"),
    TEXT("Tile", "tile", NULL), TEXT("BroadcastTo", "broadcast_to", "_ shape"), TEXT("Assign", "assign", "_ _"),
    TEXT("AssignAdd", "assign_add", "_ _"), TEXT("AssignSub", "assign_sub", "_ _"),
    TEXT("LogSoftmax", "log_softmax", "_ axis"), TEXT("Softmax", "softmax", "_ axis"),
};

/* Its inputs, then its attributes. */
static const char *default_inputs(sp__arena *arena, const sp_op *op)
{
    attr_text a = {.used = 0};
    const sp_inputs *in = sp__op_inputs(op);
    for (int i = 0; i < in->n; i++)
        put(&a, "%s%s", a.used ? " " : "", in->variadic && i == in->n - 1 ? "*" : in->optional >> i & 1 ? "_?" : "_");
    for (int i = 0; i < op->n_attrs; i++) put(&a, "%s%s", a.used ? " " : "", op->attrs[i].name);
    return a.used < sizeof a.text ? sp__arena_text(arena, a.text) : NULL;
}

const mi_rule *sp__mindir_rule(sp__arena *arena, const char *type)
{
    if (!strncmp(type, "S_Prim_", 7) || !strncmp(type, "S-Prim-", 7)) type += 7;
    const char *op_name = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].mindir, type)) continue;
        if (rules[i].run != run_text || rules[i].inputs) return &rules[i];
        op_name = rules[i].op;
    }
    for (int i = 0; i < sp_op_count(); i++) {
        const sp_op *op = sp_op_at(i);
        if (op_name ? strcmp(op->name, op_name) : !op->mindir || strcmp(op->mindir, type)) continue;
        mi_rule *rule = sp__arena_alloc(arena, sizeof *rule);
        const char *inputs = default_inputs(arena, op);
        if (!rule || !inputs) return NULL;
        *rule = (mi_rule){op->mindir, op->name, inputs, run_text, MI_OPERATOR};
        return rule;
    }
    return NULL;
}

mi_control sp__mindir_control(const mi_rule *rule) { return rule->control; }

sp_status sp__mindir_apply(mi_call *c, const mi_rule *rule, mi_value **out)
{
    sp_status status = rule->run(c, rule, out);
    if (status != SP_OK) sp__error_context("%s", rule->mindir);
    return status;
}
