/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - graphs as text, to be read by people and by parse.c.
 *
 *     variable @0: float32[4, 3]
 *     function main#0(%0: float32[2, 3], %1: function) {
 *         %2: float32[4, 3] = read @0
 *         %3: float32[2, 4] = matmul(%0, %2) {transpose_b=True}      # net.py:12 y = ops.matmul(x, w)
 *         %4: float32[] = const weak 0000803f
 *         store @0, %2
 *         %5: function = partial &loop#1(%3)
 *         %6: function = switch(%4, %5, &leave#2)
 *         %7: float32[2, 4] = call %6(%0)
 *         %8: float32[2] = host "print"(%0)
 *         %9: float32[2], %10: float32[2] = grad &f#3(%0) {results=1, differentiated=-1, seeds=0, positions=(0,), variables=()}
 *         return %3, _
 *     }
 *
 * A function is written &name#number; a value left out is _. `tail call` ends a function with a call. A constant is written
 * where the function that uses it first is printed, as its bytes in hexadecimal. `# file:line text` is the place. */
#include "base/handle.h"
#include "ir/graph_impl.h"

static void put_spec(sp__text *t, const sp_value *v)
{
    if (v->is_function) {
        sp__text_put(t, "function");
        return;
    }
    sp__text_put(t, "%s[", sp_dtype_name(v->meta.dtype));
    for (int i = 0; i < v->meta.rank; i++) {
        if (v->meta.dims[i] < 0) sp__text_put(t, i ? ", ?" : "?");
        else sp__text_put(t, "%s%lld", i ? ", " : "", (long long)v->meta.dims[i]);
    }
    sp__text_put(t, "]");
}

static void put_use(sp__text *t, const sp_value *v)
{
    if (!v) sp__text_put(t, "_");
    else if (v->origin == SP_VALUE_FUNCTION) sp__text_put(t, "&%s#%d", v->target->name, v->target->id);
    else sp__text_put(t, "%%%d", v->id);
}

static void put_uses(sp__text *t, int n, sp_value *const *v)
{
    for (int i = 0; i < n; i++) {
        if (i) sp__text_put(t, ", ");
        put_use(t, v[i]);
    }
}

static void put_results(sp__text *t, const sp_node *n)
{
    for (int i = 0; i < n->n_out; i++) {
        sp__text_put(t, "%s%%%d: ", i ? ", " : "", n->out[i]->id);
        put_spec(t, n->out[i]);
    }
    if (n->n_out) sp__text_put(t, " = ");
}

/* The element at `at`, as people write it; false for dtypes that are shown in bytes. */
static bool put_element(sp__text *t, sp_dtype dtype, const unsigned char *at)
{
    union {
        float f32;
        double f64;
        int32_t i32;
        int64_t i64;
    } x;
    switch (dtype) {
    case SP_DTYPE_F32:
        memcpy(&x.f32, at, sizeof x.f32);
        sp__text_put(t, "%.9g", (double)x.f32);
        return true;
    case SP_DTYPE_F64:
        memcpy(&x.f64, at, sizeof x.f64);
        sp__text_put(t, "%.17g", x.f64);
        return true;
    case SP_DTYPE_I32:
        memcpy(&x.i32, at, sizeof x.i32);
        sp__text_put(t, "%ld", (long)x.i32);
        return true;
    case SP_DTYPE_I64:
        memcpy(&x.i64, at, sizeof x.i64);
        sp__text_put(t, "%lld", (long long)x.i64);
        return true;
    case SP_DTYPE_BOOL: sp__text_put(t, *at ? "True" : "False"); return true;
    default: return false;
    }
}

/* A constant for people: the first elements, and how much there is. */
static void put_beginning(sp__text *t, const sp_tensor *c)
{
    enum { SHOWN = 8 };
    const size_t size = sp_dtype_bytes((sp_dtype)c->dtype);
    const unsigned char *at = (const unsigned char *)c->data;
    for (int64_t i = 0; i < c->count && i < SHOWN; i++, at += size) {
        if (i) sp__text_put(t, ", ");
        if (put_element(t, (sp_dtype)c->dtype, at)) continue;
        for (size_t k = 0; k < size; k++) sp__text_put(t, "%02x", at[k]);
    }
    if (c->count > SHOWN) sp__text_put(t, ", ... (%lld elements)", (long long)c->count);
    sp__text_put(t, "\n");
}

static sp_status put_constant(sp__text *t, const sp_value *v, bool brief)
{
    sp_tensor *plain;
    SP_TRY(sp_tensor_contiguous(v->constant, &plain));
    sp__text_put(t, "    %%%d: ", v->id);
    put_spec(t, v);
    sp__text_put(t, " = const %s", v->weak ? "weak " : "");
    if (brief) {
        put_beginning(t, plain);
        sp_tensor_release(plain);
        return SP_OK;
    }
    static const char digits[] = "0123456789abcdef";
    char piece[129];
    const unsigned char *bytes = (const unsigned char *)plain->data;
    size_t n = sp_tensor_bytes(plain), used = 0;
    for (size_t i = 0; i < n; i++) {
        piece[used++] = digits[bytes[i] >> 4];
        piece[used++] = digits[bytes[i] & 15];
        if (used < sizeof piece - 1 && i + 1 < n) continue;
        piece[used] = '\0';
        sp__text_put(t, "%s", piece);
        used = 0;
    }
    sp__text_put(t, n ? "\n" : "-\n");
    sp_tensor_release(plain);
    return SP_OK;
}

static void put_grad(sp__text *t, const sp_grad_spec *g)
{
    sp__text_put(t, " {results=%d, differentiated=%d, seeds=%d, positions=(", g->n_results, g->n_differentiated,
                 g->n_seeds);
    for (int i = 0; i < g->n_positions; i++) sp__text_put(t, "%d,", g->positions[i]);
    sp__text_put(t, "), variables=(");
    for (int i = 0; i < g->n_variables; i++) sp__text_put(t, "@%d,", g->variables[i]->id);
    sp__text_put(t, g->strict ? "), strict}" : ")}");
}

static void put_node(sp__text *t, const sp_node *n)
{
    static const char *const words[] = {
        [SP_NODE_CALL] = "call ", [SP_NODE_PARTIAL] = "partial ", [SP_NODE_GRAD] = "grad "};
    sp__text_put(t, n->owner->tail == n ? "    tail " : "    ");
    put_results(t, n);
    switch (n->kind) {
    case SP_NODE_OP:
        sp__text_put(t, "%s(", n->op->name);
        put_uses(t, n->n_in, n->in);
        sp__text_put(t, ")");
        if (n->op->n_attrs && n->attrs && !sp__attrs_equal(n->op, n->attrs, n->op->defaults)) {
            sp__text_put(t, " {");
            sp__attrs_print(t, n->op, n->attrs);
            sp__text_put(t, "}");
        }
        break;
    case SP_NODE_READ: sp__text_put(t, "read @%d", n->variable->id); break;
    case SP_NODE_STORE:
        sp__text_put(t, "store @%d, ", n->variable->id);
        put_use(t, n->in[0]);
        break;
    case SP_NODE_CALL:
    case SP_NODE_PARTIAL:
    case SP_NODE_GRAD:
        sp__text_put(t, "%s", words[n->kind]);
        put_use(t, n->in[0]);
        sp__text_put(t, "(");
        put_uses(t, n->n_in - 1, n->in + 1);
        sp__text_put(t, ")");
        if (n->grad) put_grad(t, n->grad);
        break;
    case SP_NODE_SWITCH:
        sp__text_put(t, "switch(");
        put_uses(t, n->n_in, n->in);
        sp__text_put(t, ")");
        break;
    case SP_NODE_HOST:
        sp__text_put(t, "host \"%s\"(", n->host->name);
        put_uses(t, n->n_in, n->in);
        sp__text_put(t, ")%s", n->host->pure ? " pure" : "");
        break;
    }
    if (n->place) sp__text_put(t, "  # %s:%d %s", n->place->file, n->place->line, n->place->text);
    sp__text_put(t, "\n");
}

/* Constants of a list of uses that were not written before; `mark` remembers. */
static sp_status put_new_constants(sp__text *t, int n, sp_value *const *v, const void *mark, bool brief)
{
    for (int i = 0; i < n; i++) {
        if (!v[i] || v[i]->origin != SP_VALUE_CONSTANT || v[i]->mark == mark) continue;
        v[i]->mark = (void *)(uintptr_t)mark;
        SP_TRY(put_constant(t, v[i], brief));
    }
    return SP_OK;
}

static sp_status put_function(sp__text *t, sp_function *f, void *mark, bool brief);

/* A function is read after those whose values it uses. */
static sp_status put_owners(sp__text *t, sp_function *f, int n, sp_value *const *v, void *mark, bool brief)
{
    for (int i = 0; i < n; i++) {
        bool local = v[i] && (v[i]->origin == SP_VALUE_NODE || v[i]->origin == SP_VALUE_PARAM);
        if (local && v[i]->owner != f) SP_TRY(put_function(t, v[i]->owner, mark, brief));
    }
    return SP_OK;
}

static sp_status put_function(sp__text *t, sp_function *f, void *mark, bool brief)
{
    if (f->mark == mark || !f->mark || !f->finished) return SP_OK;
    f->mark = mark;
    for (const sp_node *n = f->first; n; n = n->next) SP_TRY(put_owners(t, f, n->n_in, n->in, mark, brief));
    SP_TRY(put_owners(t, f, f->n_results, f->results, mark, brief));
    sp__text_put(t, "function %s#%d(", f->name, f->id);
    for (int i = 0; i < f->n_params; i++) {
        sp__text_put(t, "%s%%%d: ", i ? ", " : "", f->params[i]->id);
        put_spec(t, f->params[i]);
    }
    sp__text_put(t, ") {\n");
    for (const sp_node *n = f->first; n; n = n->next) {
        SP_TRY(put_new_constants(t, n->n_in, n->in, mark, brief));
        put_node(t, n);
    }
    SP_TRY(put_new_constants(t, f->n_results, f->results, mark, brief));
    if (!f->tail) {
        sp__text_put(t, f->n_results ? "    return " : "    return");
        put_uses(t, f->n_results, f->results);
        sp__text_put(t, "\n");
    }
    sp__text_put(t, "}\n");
    return SP_OK;
}

/* Mark what the entry leads to: functions that were recorded in vain are not part of the program. */
static void mark_reachable(sp_function *f, void *mark)
{
    if (f->mark == mark) return;
    f->mark = mark;
    for (const sp_node *n = f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] && n->in[i]->origin == SP_VALUE_FUNCTION) mark_reachable(n->in[i]->target, mark);
    for (int i = 0; i < f->n_results; i++)
        if (f->results[i]->origin == SP_VALUE_FUNCTION) mark_reachable(f->results[i]->target, mark);
}

sp_status sp__graph_print(const sp_graph *g, bool brief, char **out)
{
    sp__text t = {0};
    sp_status status = SP_OK;
    for (int i = 0; i < g->n_variables; i++) {
        sp_value v = {.origin = SP_VALUE_NODE};
        sp__meta_of(g->variables[i]->tensor, &v.meta);
        sp__text_put(&t, "variable @%d: ", i);
        put_spec(&t, &v);
        sp__text_put(&t, "\n");
    }
    if (g->entry) sp__text_put(&t, "entry &%s#%d\n", g->entry->name, g->entry->id);
    /* Marks of an earlier printing must not count: a new address for each. */
    if (g->entry) mark_reachable(g->entry, g->entry);
    for (sp_function *f = g->first; status == SP_OK && f; f = f->next) status = put_function(&t, f, &t, brief);
    for (sp_function *f = g->first; f; f = f->next) f->mark = NULL;
    for (const sp_function *f = g->first; f; f = f->next)
        for (const sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i]) n->in[i]->mark = NULL;
    for (const sp_function *f = g->first; f; f = f->next)
        for (int i = 0; i < f->n_results; i++) f->results[i]->mark = NULL;
    if (status == SP_OK) return sp__text_take(&t, out);
    sp__free(t.data);
    return status;
}

sp_status sp_graph_text(const sp_graph *g, char **out)
{
    SP_HANDLE(g);
    return sp__graph_print(g, false, out);
}

void sp_text_free(char *text) { sp__free(text); }
