/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_write.c - what the functions of steps are written with: lines, loops, indices, loads and stores. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ops/ops_impl.h"

const char *sp__codegen_type(sp_dtype dtype)
{
    switch (dtype) {
    case SP_DTYPE_BOOL:
    case SP_DTYPE_U8: return "uint8_t";
    case SP_DTYPE_I8: return "int8_t";
    case SP_DTYPE_I16: return "int16_t";
    case SP_DTYPE_U16: return "uint16_t";
    case SP_DTYPE_I32: return "int32_t";
    case SP_DTYPE_U32: return "uint32_t";
    case SP_DTYPE_I64: return "int64_t";
    case SP_DTYPE_F32: return "float";
    case SP_DTYPE_F64: return "double";
    default: return NULL;
    }
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

static const void *field(const sp_node *n, const char *name)
{
    for (int i = 0; i < n->op->n_attrs; i++)
        if (strcmp(n->op->attrs[i].name, name) == 0) return (const char *)n->attrs + n->op->attrs[i].offset;
    return NULL;
}

int64_t sp__codegen_int(const sp_node *n, const char *name)
{
    const void *at = field(n, name);
    return at != NULL ? *(const int64_t *)at : 0;
}

double sp__codegen_number(const sp_node *n, const char *name)
{
    for (int i = 0; i < n->op->n_attrs; i++) {
        const sp_attr *a = &n->op->attrs[i];
        const char *at = (const char *)n->attrs + a->offset;
        if (strcmp(a->name, name) != 0) continue;
        if (a->type == SP_ATTR_FLOAT) return *(const double *)(const void *)at;
        if (a->type == SP_ATTR_INT) return (double)*(const int64_t *)(const void *)at;
        if (a->type == SP_ATTR_NUMBER)
            return ((const sp_number *)(const void *)at)->kind == 'f'
                       ? ((const sp_number *)(const void *)at)->f
                       : (double)((const sp_number *)(const void *)at)->i;
    }
    return 0;
}

const char *sp__codegen_text(const sp_node *n, const char *name)
{
    const void *at = field(n, name);
    const char *text = at != NULL ? *(const char *const *)at : NULL;
    return text != NULL ? text : "";
}

bool sp__codegen_bool(const sp_node *n, const char *name)
{
    const void *at = field(n, name);
    return at != NULL && *(const bool *)at;
}

sp_ints sp__codegen_ints(const sp_node *n, const char *name)
{
    const void *at = field(n, name);
    return at != NULL ? *(const sp_ints *)at : (sp_ints){.n = -1};
}

/* --- lines and loops --------------------------------------------------------------------------------------------- */

void sp__codegen_line(sp_codegen_out *o, const char *format, ...)
{
    char line[4 * SP_CODEGEN_TEXT];
    va_list args;
    va_start(args, format);
    const int n = sp__vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof line) {
        if (o->status == SP_OK)
            o->status = sp__fail(SP_RUNTIME, "a line of generated C is longer than %zu characters", sizeof line);
        return;
    }
    sp__text_put(&o->text, "%*s%s\n", 4 * (o->depth + 1), "", line);
}

void sp__codegen_for(sp_codegen_out *o, const char *name, int64_t n, char coordinate[24])
{
    if (n == 1) {
        memcpy(coordinate, "0", 2);
        return;
    }
    snprintf(coordinate, 24, "%s", name);
    sp__codegen_line(o, "for (int %s = 0; %s < %lld; %s++) {", name, name, (long long)n, name);
    o->depth++;
}

void sp__codegen_close(sp_codegen_out *o)
{
    o->depth--;
    sp__codegen_line(o, "}");
}

void sp__codegen_end(sp_codegen_out *o, int64_t n)
{
    if (n != 1) sp__codegen_close(o);
}

void sp__codegen_loops(sp_codegen_out *o, const char *prefix, int rank, const int64_t *dims, sp_codegen_at *at)
{
    for (int i = 0; i < rank; i++) {
        char name[24];
        snprintf(name, sizeof name, "%.8s%d", prefix, i);
        sp__codegen_for(o, name, dims[i], at[i]);
    }
}

void sp__codegen_loops_end(sp_codegen_out *o, int rank, const int64_t *dims)
{
    for (int i = rank - 1; i >= 0; i--) sp__codegen_end(o, dims[i]);
}

void sp__codegen_literal(sp_dtype dtype, double value, char *out, size_t room)
{
    const char kind = sp_dtype_kind(dtype);
    if (kind != 'f') {
        if (dtype == SP_DTYPE_I64) sp__snprintf(out, room, "INT64_C(%lld)", (long long)value);
        else if (value == -2147483648.0) sp__snprintf(out, room, "(-2147483647 - 1)");
        else
            sp__snprintf(out, room, value < 0 ? "(%lld)" : "%lld%s", (long long)value,
                         dtype == SP_DTYPE_U32 ? "u" : "");
        return;
    }
    const char *suffix = dtype == SP_DTYPE_F32 ? "f" : "";
    if (isnan(value)) sp__snprintf(out, room, "NAN");
    else if (isinf(value)) sp__snprintf(out, room, value > 0 ? "INFINITY" : "(-INFINITY)");
    else {
        char text[40];
        sp__snprintf(text, sizeof text, dtype == SP_DTYPE_F32 ? "%.9g" : "%.17g", value);
        const char *dot = strpbrk(text, ".e") != NULL ? "" : ".0";
        sp__snprintf(out, room, value < 0 || (value == 0 && signbit(value)) ? "(%s%s%s)" : "%s%s%s", text, dot, suffix);
    }
}

/* --- blocks and elements ----------------------------------------------------------------------------------------- */

int sp__codegen_block_of(const sp_codegen *g, const sp_tensor *view)
{
    for (int i = g->n_blocks - 1; i >= 0; i--)
        if (g->blocks[i].memory->storage == view->storage) return i;
    return -1;
}

/* Place of the block among the arguments of the step. */
static int arg_of(sp_codegen_out *o, int block, bool write, bool read)
{
    sp_codegen_step *s = o->step;
    int i = 0;
    while (i < s->n_args && s->args[i].block != block) i++;
    if (i == SP_CODEGEN_ARGS) {
        if (o->status == SP_OK)
            o->status = sp__fail(SP_DECLINED, "a step of the generated code would need more than %d pieces of memory",
                                 SP_CODEGEN_ARGS);
        return 0;
    }
    if (i == s->n_args) s->args[s->n_args++] = (sp_codegen_arg){.block = block};
    s->args[i].written |= write;
    s->args[i].read |= read;
    o->g->blocks[block].used = true;
    return i;
}

const char *sp__codegen_arg(sp_codegen_out *o, int block, bool write)
{
    static const char *const names[SP_CODEGEN_ARGS] = {"a0",  "a1",  "a2",  "a3",  "a4",  "a5",  "a6",  "a7",
                                                       "a8",  "a9",  "a10", "a11", "a12", "a13", "a14", "a15",
                                                       "a16", "a17", "a18", "a19", "a20", "a21", "a22", "a23"};
    return names[arg_of(o, block, write, !write)];
}

static int64_t offset_of(const sp_codegen *g, const sp_tensor *view)
{
    const sp_codegen_block *b = &g->blocks[sp__codegen_block_of(g, view)];
    return (view->data - b->memory->data) / (int64_t)sp_dtype_bytes((sp_dtype)view->dtype);
}

void sp__codegen_index(const sp_codegen_out *o, const sp_tensor *view, sp_codegen_at *at, char *out, size_t room)
{
    const int64_t offset = offset_of(o->g, view);
    size_t n = 0;
    out[0] = '\0';
    if (offset != 0) n += (size_t)sp__snprintf(out, room, "%lld", (long long)offset);
    for (int i = 0; i < view->rank && n < room; i++) {
        const int64_t stride = view->strides[i];
        if (view->dims[i] == 1 || stride == 0 || strcmp(at[i], "0") == 0) continue;
        const char *plus = n == 0 ? (stride < 0 ? "-" : "") : stride < 0 ? " - " : " + ";
        const int64_t size = stride < 0 ? -stride : stride;
        if (size == 1) n += (size_t)sp__snprintf(out + n, room - n, "%s%s", plus, at[i]);
        else n += (size_t)sp__snprintf(out + n, room - n, "%s%s * %lld", plus, at[i], (long long)size);
    }
    if (n == 0) sp__snprintf(out, room, "0");
}

sp_tensor *sp__codegen_view(const sp_codegen *g, const sp_value *v)
{
    const sp_codegen_value *known = sp__codegen_value(g, v);
    while (known->view == NULL && known->cheap) {
        const sp_node *n = v->node;
        double number;
        int k = 0;
        while (k < n->n_in && sp__codegen_is_number(n->in[k], &number)) k++;
        v = n->in[k];
        known = sp__codegen_value(g, v);
    }
    return known->view;
}

/* Text of a cheap value around the text of the element that it is made from. */
static void wrap(sp_codegen_out *o, const sp_value *v, const char *element, char *out, size_t room)
{
    const sp_codegen_value *known = sp__codegen_value(o->g, v);
    if (known->view != NULL || !known->cheap) {
        sp__snprintf(out, room, "%s", element);
        return;
    }
    const sp_node *n = v->node;
    char texts[2][SP_CODEGEN_TEXT], inner[SP_CODEGEN_TEXT];
    const char *operands[2] = {texts[0], texts[1]};
    for (int k = 0; k < n->n_in && k < 2; k++) {
        double number;
        if (sp__codegen_is_number(n->in[k], &number))
            sp__codegen_literal(n->in[k]->meta.dtype, number, texts[k], sizeof texts[k]);
        else wrap(o, n->in[k], element, texts[k], sizeof texts[k]);
    }
    const sp_status status = sp__codegen_math(o, n, operands, inner, sizeof inner);
    if (status != SP_OK && o->status == SP_OK) o->status = status;
    sp__snprintf(out, room, "(%s)", inner);
}

void sp__codegen_load_index(sp_codegen_out *o, sp_value *v, const char *index, char *out, size_t room)
{
    double number;
    char element[SP_CODEGEN_TEXT];
    if (sp__codegen_is_number(v, &number)) {
        sp__codegen_literal(v->meta.dtype, number, out, room);
        return;
    }
    const sp_tensor *view = sp__codegen_view(o->g, v);
    const sp_codegen_block *b = &o->g->blocks[sp__codegen_block_of(o->g, view)];
    const char *name = sp__codegen_arg(o, (int)(b - o->g->blocks), false);
    if (b->stored != b->dtype)
        sp__snprintf(element, sizeof element, "(%s)%s[%s]", sp__codegen_type(b->dtype), name, index);
    else sp__snprintf(element, sizeof element, "%s[%s]", name, index);
    wrap(o, v, element, out, room);
}

void sp__codegen_load(sp_codegen_out *o, sp_value *v, sp_codegen_at *at, char *out, size_t room)
{
    char index[SP_CODEGEN_TEXT] = "";
    double number;
    if (!sp__codegen_is_number(v, &number)) sp__codegen_index(o, sp__codegen_view(o->g, v), at, index, sizeof index);
    sp__codegen_load_index(o, v, index, out, room);
}

/* --- results ----------------------------------------------------------------------------------------------------- */

static void store(sp_codegen_out *o, const sp_tensor *view, sp_codegen_at *at, const char *index, const char *value)
{
    char text[SP_CODEGEN_TEXT];
    if (index == NULL) sp__codegen_index(o, view, at, text, sizeof text);
    const int block = sp__codegen_block_of(o->g, view);
    sp__codegen_line(o, "%s[%s] = %s;", sp__codegen_arg(o, block, true), index != NULL ? index : text, value);
}

void sp__codegen_store_result(sp_codegen_out *o, const sp_value *v, sp_codegen_at *at, const char *value)
{
    if (sp__codegen_value(o->g, v)->view != NULL) store(o, sp__codegen_value(o->g, v)->view, at, NULL, value);
}

/* Names of what the step has made: the kernel's result and the fused nodes'. */
static int made_by(const sp_codegen_step *s, const sp_value *v)
{
    if (s->kernel != NULL && v == s->kernel->out[0]) return 0;
    for (int i = 0; i < s->n_fused; i++)
        if (v == s->fused[i]->out[0]) return i + 1;
    return -1;
}

static bool same_layout(const sp_tensor *a, const sp_tensor *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++)
        same = a->dims[i] == b->dims[i] && (a->dims[i] == 1 || a->strides[i] == b->strides[i]);
    return same;
}

/* Operand k of a fused node: at the coordinates of the result, or (index) at the same distance in memory. */
static void operand(sp_codegen_out *o, const sp_node *n, sp_value *v, sp_codegen_at *at, const char *index, char *out,
                    size_t room)
{
    const sp_codegen_step *s = o->step;
    const int made = made_by(s, v), rank = n->out[0]->meta.rank;
    double number;
    if (made >= 0) {
        sp__snprintf(out, room, "t%d", made);
        return;
    }
    if (sp__codegen_is_number(v, &number)) {
        sp__codegen_load(o, v, at, out, room);
        return;
    }
    const sp_tensor *view = sp__codegen_view(o->g, v), *result = sp__codegen_value(o->g, s->out)->view;
    const int shift = n->op->loop_axis > 0 && view->rank == 1 && rank > 1 ? n->op->loop_axis : rank - view->rank;
    const int block = sp__codegen_block_of(o->g, view), arg = arg_of(o, block, false, false);
    const bool before = o->step->args[arg].read;
    if (index != NULL) sp__codegen_load_index(o, v, index, out, room);
    else sp__codegen_load(o, v, at + shift, out, room);
    /* An element that is read where the result will be written does not hinder the result from taking its memory. */
    if (!before && same_layout(view, result) && offset_of(o->g, view) == 0) o->step->args[arg].read = false;
}

static void fused_lines(sp_codegen_out *o, sp_codegen_at *at, const char *index)
{
    const sp_codegen_step *s = o->step;
    for (int i = 0; i < s->n_fused; i++) {
        const sp_node *n = s->fused[i];
        const sp_codegen_value *known = sp__codegen_value(o->g, n->out[0]);
        char texts[4][SP_CODEGEN_TEXT], expression[SP_CODEGEN_TEXT];
        const char *operands[4] = {texts[0], texts[1], texts[2], texts[3]};
        const char *type = sp__codegen_type(n->out[0]->meta.dtype);
        if (known->table != NULL) {
            operand(o, n, known->source, at, index, texts[0], sizeof texts[0]);
            const char *table = sp__codegen_arg(o, sp__codegen_value(o->g, known->table)->block, false);
            sp__codegen_line(o, "const %s t%d = %s[(uint8_t)%s];", type, i + 1, table, texts[0]);
            continue;
        }
        for (int k = 0; k < n->n_in && k < 4; k++) {
            if (n->in[k] != NULL) operand(o, n, n->in[k], at, index, texts[k], sizeof texts[k]);
            else operands[k] = NULL;
        }
        const sp_status status = sp__codegen_math(o, n, operands, expression, sizeof expression);
        if (status != SP_OK && o->status == SP_OK) o->status = status;
        sp__codegen_line(o, "const %s t%d = (%s)(%s);", type, i + 1, type, expression);
    }
}

void sp__codegen_store(sp_codegen_out *o, sp_codegen_at *at, const char *value)
{
    const sp_codegen_step *s = o->step;
    const sp_tensor *view = sp__codegen_value(o->g, s->out)->view;
    char last[16];
    if (s->n_fused == 0) {
        store(o, view, at, NULL, value);
        return;
    }
    sp__codegen_line(o, "const %s t0 = %s;", sp__codegen_type(s->kernel->out[0]->meta.dtype), value);
    fused_lines(o, at, NULL);
    snprintf(last, sizeof last, "t%d", s->n_fused);
    store(o, view, at, NULL, last);
}

/* --- steps without a kernel -------------------------------------------------------------------------------------- */

/* Whether all operands that are not numbers lie in memory as the result does, without gaps: then one loop is enough. */
static bool is_flat(sp_codegen_out *o)
{
    const sp_codegen_step *s = o->step;
    const sp_tensor *result = sp__codegen_value(o->g, s->out)->view;
    if (!(result->flags & SP_TENSOR_CONTIGUOUS) || offset_of(o->g, result) != 0) return false;
    for (int i = 0; i < s->n_fused; i++) {
        const sp_node *n = s->fused[i];
        const sp_codegen_value *known = sp__codegen_value(o->g, n->out[0]);
        for (int k = 0; k < (known->table != NULL ? 1 : n->n_in); k++) {
            const sp_value *v = known->table != NULL ? known->source : n->in[k];
            double number;
            if (v == NULL || made_by(s, v) >= 0 || sp__codegen_is_number(v, &number)) continue;
            const sp_tensor *view = sp__codegen_view(o->g, v);
            if (!same_layout(view, result) || offset_of(o->g, view) != 0) return false;
        }
    }
    return true;
}

static void write_math(sp_codegen_out *o)
{
    const sp_tensor *result = sp__codegen_value(o->g, o->step->out)->view;
    sp_codegen_at at[SP_RANK_MAX];
    char last[16];
    snprintf(last, sizeof last, "t%d", o->step->n_fused);
    if (is_flat(o)) {
        char i[24];
        sp__codegen_for(o, "i", result->count, i);
        fused_lines(o, at, i);
        store(o, result, at, i, last);
        sp__codegen_end(o, result->count);
        return;
    }
    sp__codegen_loops(o, "i", result->rank, result->dims, at);
    fused_lines(o, at, NULL);
    store(o, result, at, NULL, last);
    sp__codegen_loops_end(o, result->rank, result->dims);
}

static void write_copy(sp_codegen_out *o)
{
    const sp_tensor *from = o->step->from, *to = o->step->to;
    const sp_codegen_block *b = &o->g->blocks[sp__codegen_block_of(o->g, from)];
    const char *source = sp__codegen_arg(o, (int)(b - o->g->blocks), false);
    sp_codegen_at at[SP_RANK_MAX];
    char index[SP_CODEGEN_TEXT], value[SP_CODEGEN_TEXT];
    if ((from->flags & to->flags & SP_TENSOR_CONTIGUOUS) && offset_of(o->g, from) == 0 && offset_of(o->g, to) == 0 &&
        b->stored == b->dtype) {
        sp__codegen_line(o, "memcpy(%s, %s, %zu);", sp__codegen_arg(o, sp__codegen_block_of(o->g, to), true), source,
                         sp_tensor_bytes(from));
        return;
    }
    sp__codegen_loops(o, "i", from->rank, from->dims, at);
    sp__codegen_index(o, from, at, index, sizeof index);
    sp__snprintf(value, sizeof value, "%s[%s]", source, index);
    store(o, to, at, NULL, value);
    sp__codegen_loops_end(o, from->rank, from->dims);
}

/* --- functions --------------------------------------------------------------------------------------------------- */

static sp_status head_of(const sp_codegen *g, const sp_codegen_step *s, char **out)
{
    sp__text t = {0};
    for (int i = 0; i < s->n_args; i++) {
        const sp_codegen_block *b = &g->blocks[s->args[i].block];
        sp__text_put(&t, "%s%s%s%s *a%d", i == 0 ? "(" : ", ", s->args[i].written ? "" : "const ",
                     sp_dtype_bytes(b->stored) > 1 ? "spore_" : "", sp__codegen_type(b->stored), i);
    }
    sp__text_put(&t, s->n_args == 0 ? "(void)" : ")");
    return sp__text_take(&t, out);
}

/* The function with that text: found, or added. Takes the texts over. */
static sp_status function_of(sp_codegen *g, const char *what, char *head, char *body, int *out)
{
    for (int i = 0; i < g->n_functions; i++)
        if (strcmp(g->functions[i].head, head) == 0 && strcmp(g->functions[i].body, body) == 0) {
            sp__free(head);
            sp__free(body);
            *out = i;
            return SP_OK;
        }
    if (g->n_functions == g->functions_room) {
        const int room = g->functions_room ? 2 * g->functions_room : 32;
        sp_codegen_function *more =
            sp__realloc(g->functions, (size_t)g->functions_room * sizeof *more, (size_t)room * sizeof *more);
        if (more == NULL) {
            sp__free(head);
            sp__free(body);
            return SP_NOMEM;
        }
        g->functions = more;
        g->functions_room = room;
    }
    g->functions[g->n_functions] = (sp_codegen_function){.what = what, .head = head, .body = body};
    *out = g->n_functions++;
    return SP_OK;
}

static sp_status write_step(sp_codegen *g, sp_codegen_step *s)
{
    sp_codegen_out o = {.g = g, .step = s};
    const char *what = s->kernel != NULL ? s->kernel->op->name
                       : s->out != NULL  ? s->fused[s->n_fused - 1]->op->name
                                         : "copy";
    sp_status status = SP_OK;
    if (s->kernel != NULL) status = sp__codegen_kernel(s->kernel->op)->write(&o, s->kernel);
    else if (s->out != NULL) write_math(&o);
    else write_copy(&o);
    if (status == SP_OK) status = o.status;
    char *head = NULL, *body = NULL;
    if (status == SP_OK && o.text.data == NULL) sp__text_put(&o.text, "%s", "");
    const sp_status taken = sp__text_take(&o.text, &body);
    if (status == SP_OK) status = taken;
    if (status == SP_OK) status = head_of(g, s, &head);
    if (status == SP_OK) return function_of(g, what, head, body, &s->function);
    if (taken == SP_OK) sp__free(body);
    sp__error_context("C for operator %s", what);
    return status;
}

sp_status sp__codegen_functions(sp_codegen *g)
{
    for (int i = 0; i < g->n_steps; i++) SP_TRY(write_step(g, &g->steps[i]));
    return SP_OK;
}
