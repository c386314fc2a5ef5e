/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.c - see sizes.h. */
#include "formats/sizes.h"

#include <stdio.h>
#include <string.h>

#include "formats/twins.h"
#include "ops/ops_impl.h"

int sp__sizes_trials(const sp_model_names *names)
{
    return !names->other ? 1 : 2 + (names->n_more < SP_TRIALS_MAX - 2 ? names->n_more : SP_TRIALS_MAX - 2);
}

/* --- what follows from sizes alone ------------------------------------------------------------------------------- */

enum { KNOWN_MAX = 64, KNOWN_IN_MAX = 16 }; /* elements; operands */

static sp_tensor *known_or_constant(const sp_sizes *s, const sp_value *v, int trial)
{
    if (v->origin == SP_VALUE_CONSTANT && v->constant->count <= KNOWN_MAX) return v->constant;
    return trial == 0 && v->id < s->n_values ? s->known[v->id][0] : NULL;
}

/* One node of the first recording, and its twins: their operands are known by those of the first. */
static sp_status evaluate(sp_sizes *s, const sp_node *n)
{
    sp_tensor **known = s->known[n->out[0]->id];
    int axis;
    const sp_node *t = n;
    if (sp__node_is_size(n, &axis)) {
        for (int k = 0; k < s->n; k++, t = t->mark) {
            const int64_t none = 0;
            SP_TRY(sp_tensor_create_from(SP_DTYPE_I64, 0, &none, &t->in[0]->meta.dims[axis], &known[k]));
        }
        return SP_OK;
    }
    if (n->kind != SP_NODE_OP || n->n_out != 1 || n->n_in == 0 || n->n_in > KNOWN_IN_MAX || n->op->writes ||
        n->out[0]->meta.rank > 1)
        return SP_OK;
    for (int k = 0; k < s->n; k++, t = t->mark) {
        sp_tensor *in[KNOWN_IN_MAX];
        int n_made;
        for (int i = 0; i < n->n_in; i++) {
            if (!n->in[i]) return SP_OK;
            in[i] = k == 0                                  ? known_or_constant(s, n->in[i], 0)
                    : t->in[i]->origin == SP_VALUE_CONSTANT ? known_or_constant(s, t->in[i], k)
                                                            : s->known[n->in[i]->id][k];
            if (!in[i]) return SP_OK;
        }
        sp_function *recorder = sp__recorder;
        sp__recorder = NULL;
        sp_status status = sp_apply(t->op, t->attrs, n->n_in, in, 1, &known[k], &n_made);
        sp__recorder = recorder;
        if (status == SP_NOMEM) return status;
        if (status != SP_OK || known[k]->count == 0 || known[k]->count > KNOWN_MAX) {
            for (int i = 0; i <= k; i++) {
                sp_tensor_release(known[i]);
                known[i] = NULL;
            }
            return SP_OK;
        }
    }
    return SP_OK;
}

sp_status sp__sizes_begin(sp_sizes *s, const sp_function *entry, const sp_model_names *names)
{
    *s = (sp_sizes){.n = sp__sizes_trials(names), .entry = entry, .n_values = entry->graph->next_value};
    sp_graph *before = entry->graph;
    for (int k = 1; k < s->n; k++) {
        sp_graph *other = k == 1 ? names->other->graph : names->more[k - 2]->graph;
        SP_TRY(sp__graph_pair(before, other));
        before = other;
    }
    SP_TRY(sp__graph_pair(before, NULL));
    if (s->n == 1) return SP_OK;
    s->known = sp__alloc_zero((size_t)s->n_values * sizeof *s->known + 1);
    s->sources = sp__alloc(SP_SIZE_SOURCES_MAX * sizeof *s->sources);
    if (!s->known || !s->sources) return SP_NOMEM;
    for (const sp_function *f = entry->graph->first; f; f = f->next)
        for (const sp_node *n = f->first; n; n = n->next)
            if (n->n_out == 1) SP_TRY(evaluate(s, n));
    return SP_OK;
}

void sp__sizes_free(sp_sizes *s)
{
    for (int i = 0; s->known && i < s->n_values; i++)
        for (int k = 0; k < s->n; k++) sp_tensor_release(s->known[i][k]);
    sp__free(s->known);
    sp__free(s->sources);
    s->sources = NULL;
    s->known = NULL;
}

bool sp__sizes_known(const sp_sizes *s, const sp_value *v, int64_t *at)
{
    if (!s->known || v->id >= s->n_values || !s->known[v->id][0]) return false;
    for (int k = 0; k < s->n; k++) {
        double number;
        const sp_tensor *t = s->known[v->id][k];
        if (t->count != 1) return false;
        if (t->dtype != SP_DTYPE_I64 && t->dtype != SP_DTYPE_I32) return false;
        if (t->dtype == SP_DTYPE_I64) at[k] = *(const int64_t *)(const void *)t->data;
        else {
            if (sp_tensor_item_f64((sp_tensor *)(uintptr_t)t, &number) != SP_OK) return false;
            at[k] = (int64_t)number;
        }
    }
    return true;
}

/* --- numbers in all recordings ----------------------------------------------------------------------------------- */

void sp__sizes_result(const sp_sizes *s, const sp_node *n, int i, int axis, int64_t *at)
{
    for (int k = 0; k < s->n; k++, n = n->mark) at[k] = n->out[i]->meta.dims[axis];
}

void sp__sizes_operand(const sp_sizes *s, const sp_node *n, int i, int axis, int64_t *at)
{
    for (int k = 0; k < s->n; k++, n = n->mark) at[k] = n->in[i]->meta.dims[axis];
}

static const void *attr_at(const sp_node *n, const sp_attr *a) { return (const char *)n->attrs + a->offset; }

static const sp_attr *find_attr(const sp_op *op, const char *name)
{
    for (int i = 0; i < op->n_attrs; i++)
        if (!strcmp(op->attrs[i].name, name)) return &op->attrs[i];
    return NULL;
}

bool sp__sizes_attr(const sp_sizes *s, const sp_node *n, const char *name, int element, int64_t *at)
{
    const sp_attr *a = find_attr(n->op, name);
    if (!a || (a->type != SP_ATTR_INTS && a->type != SP_ATTR_INT && a->type != SP_ATTR_NUMBER)) return false;
    for (int k = 0; k < s->n; k++, n = n->mark) {
        const sp_ints *list = attr_at(n, a);
        const sp_number *number = attr_at(n, a);
        if (a->type == SP_ATTR_INT) at[k] = *(const int64_t *)attr_at(n, a);
        else if (a->type == SP_ATTR_NUMBER && number->kind == 'f') return false;
        else if (a->type == SP_ATTR_NUMBER) at[k] = number->i;
        else if (element >= list->n) return false;
        else at[k] = list->v[element];
    }
    return true;
}

static bool same_attr(const sp_node *x, const sp_node *y, const sp_attr *a)
{
    const void *p = attr_at(x, a), *q = attr_at(y, a);
    switch (a->type) {
    case SP_ATTR_INTS: {
        const sp_ints *v = p, *w = q;
        return v->n == w->n && (v->n <= 0 || !memcmp(v->v, w->v, (size_t)v->n * sizeof *v->v));
    }
    case SP_ATTR_INT: return *(const int64_t *)p == *(const int64_t *)q;
    case SP_ATTR_FLOAT: return !memcmp(p, q, sizeof(double));
    case SP_ATTR_NUMBER: {
        const sp_number *v = p, *w = q;
        return v->kind == w->kind && (v->kind == 'f' ? !memcmp(&v->f, &w->f, sizeof v->f) : v->i == w->i);
    }
    case SP_ATTR_BOOL: return *(const bool *)p == *(const bool *)q;
    case SP_ATTR_DTYPE: return *(const sp_dtype *)p == *(const sp_dtype *)q;
    case SP_ATTR_FLOATS: {
        const sp_floats *v = p, *w = q;
        return v->n == w->n && (v->n <= 0 || !memcmp(v->v, w->v, (size_t)v->n * sizeof *v->v));
    }
    default: return true;
    }
}

sp_status sp__sizes_check_attrs(const sp_sizes *s, const sp_node *n, const char *written)
{
    const sp_node *t = n->mark;
    for (int k = 1; k < s->n && n->kind == SP_NODE_OP; k++, t = t->mark)
        for (int i = 0; i < n->op->n_attrs; i++) {
            char name[96];
            snprintf(name, sizeof name, " %s ", n->op->attrs[i].name);
            if (same_attr(n, t, &n->op->attrs[i]) || strstr(written, name)) continue;
            return sp__fail(
                SP_DECLINED,
                "%s: its attribute '%s' depends on sizes that are free in the file, in a way that cannot be written",
                n->op->name, n->op->attrs[i].name);
        }
    return SP_OK;
}

bool sp__constant_numbers(const sp_sizes *s, const sp_node *n, int i, int64_t *at)
{
    for (int k = 0; k < s->n; k++, n = n->mark) {
        double number;
        sp_tensor *t = n->in[i]->constant;
        if (t->count != 1 || sp_dtype_kind((sp_dtype)t->dtype) == 'c' || sp_tensor_item_f64(t, &number) != SP_OK)
            return false;
        at[k] = number > -9e15 && number < 9e15 ? (int64_t)number : 0;
        if ((double)at[k] != number) return false;
    }
    return true;
}

/* --- frames ------------------------------------------------------------------------------------------------------ */

static bool is_uniform(const sp_value *v)
{
    if (v->origin == SP_VALUE_NODE) return v->node->op == &sp_op_full;
    if (v->origin != SP_VALUE_CONSTANT || v->constant->count == 0) return false;
    const size_t bytes = sp_dtype_bytes((sp_dtype)v->constant->dtype);
    for (int64_t i = 1; i < v->constant->count; i++)
        if (memcmp(v->constant->data, v->constant->data + (size_t)i * bytes, bytes) != 0) return false;
    return true;
}

/* In recording i, whose twin of the node is n. */
static bool frame_at(const sp_node *n, int i, int64_t (*before)[SP_TRIALS_MAX], int64_t (*behind)[SP_TRIALS_MAX])
{
    const sp_ints *start = attr_at(n, find_attr(n->op, "start")), *stop = attr_at(n, find_attr(n->op, "stop")),
                  *step = attr_at(n, find_attr(n->op, "step"));
    const sp_meta *x = &n->in[0]->meta, *value = &n->in[1]->meta;
    if (!is_uniform(n->in[0]) || x->rank == 0 || value->rank != x->rank) return false;
    for (int k = 0; k < x->rank; k++) {
        const bool given = k < start->n;
        const int64_t from = given ? start->v[k] : 0, to = given ? stop->v[k] : x->dims[k];
        if ((given && step->n >= 0 && step->v[k] != 1) || from < 0 || to > x->dims[k] || to - from != value->dims[k])
            return false;
        before[k][i] = from;
        behind[k][i] = x->dims[k] - to;
    }
    return true;
}

bool sp__sizes_frame(const sp_sizes *s, const sp_node *n, int64_t (*before)[SP_TRIALS_MAX],
                     int64_t (*behind)[SP_TRIALS_MAX])
{
    if (n->op != &sp_op_slice_put) return false;
    for (int i = 0; i < s->n; i++, n = n->mark)
        if (!frame_at(n, i, before, behind)) return false;
    return true;
}

bool sp__sizes_only_frames(const sp_sizes *s, const sp_node *n)
{
    int64_t before[SP_RANK_MAX][SP_TRIALS_MAX], behind[SP_RANK_MAX][SP_TRIALS_MAX];
    if (n->op != &sp_op_full || s->n < 2) return false;
    for (int i = 0; i < n->owner->n_results; i++)
        if (n->owner->results[i] == n->out[0]) return false;
    for (const sp_function *f = n->owner->graph->first; f; f = f->next)
        for (const sp_node *t = f->first; t; t = t->next)
            for (int i = 0; i < t->n_in; i++)
                if (t->in[i] == n->out[0] && (i != 0 || !sp__sizes_frame(s, t, before, behind))) return false;
    return true;
}

/* --- sources ----------------------------------------------------------------------------------------------------- */

static void add_source(sp_sizes *s, const sp_value *v, int axis, const int64_t *at)
{
    if (s->n_sources == SP_SIZE_SOURCES_MAX || sp__sizes_fixed(s, at)) return;
    for (int i = 0; i < s->n_sources; i++)
        if (!memcmp(s->sources[i].at, at, (size_t)s->n * sizeof *at))
            return; /* the first one that is that number will do */
    sp_size_source *one = &s->sources[s->n_sources++];
    one->v = v;
    one->axis = axis;
    memcpy(one->at, at, (size_t)s->n * sizeof *at);
}

/* Numbers of the run that function f has computed before node `to`. */
static void add_numbers(sp_sizes *s, const sp_function *f, const sp_node *to)
{
    int64_t at[SP_TRIALS_MAX];
    for (const sp_node *n = f->first; n && n != to; n = n->next)
        if (n->n_out == 1 && sp__sizes_known(s, n->out[0], at)) add_source(s, n->out[0], -1, at);
}

static const sp_function *twin_of(const sp_function *f, int k)
{
    while (k-- > 0) f = f->mark;
    return f;
}

/* Dimensions of arguments of f. */
static void add_params(sp_sizes *s, const sp_function *f)
{
    int64_t at[SP_TRIALS_MAX];
    for (int i = 0; i < f->n_params; i++)
        for (int axis = 0; !f->params[i]->is_function && axis < f->params[i]->meta.rank; axis++) {
            for (int k = 0; k < s->n; k++) at[k] = twin_of(f, k)->params[i]->meta.dims[axis];
            add_source(s, f->params[i], axis, at);
        }
}

void sp__sizes_sources(sp_sizes *s, const sp_node *n, bool outer)
{
    int64_t at[SP_TRIALS_MAX];
    s->n_sources = 0;
    if (s->n < 2) return;
    add_numbers(s, n->owner, n);
    if (outer && n->owner != s->entry) add_numbers(s, s->entry, NULL);
    for (int i = 0; i < n->n_in; i++)
        for (int axis = 0;
             n->in[i] && !n->in[i]->is_function && n->in[i]->origin != SP_VALUE_CONSTANT && axis < n->in[i]->meta.rank;
             axis++) {
            sp__sizes_operand(s, n, i, axis, at);
            add_source(s, n->in[i], axis, at);
        }
    add_params(s, n->owner);
    if (outer && n->owner != s->entry) add_params(s, s->entry);
}

/* --- forms ------------------------------------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

static bool is_form(int n, const int64_t *x, const int64_t *at, int64_t add, int64_t mul, int64_t div, int64_t plus)
{
    for (int k = 0; k < n; k++) {
        int64_t sum, product, value;
        if (__builtin_add_overflow(x[k], add, &sum) || __builtin_mul_overflow(sum, mul, &product)) return false;
        if (__builtin_add_overflow(floor_div(product, div), plus, &value) || value != at[k]) return false;
    }
    return true;
}

static bool set_form(sp_size_form *f, int64_t add, int64_t mul, int64_t div, int64_t plus)
{
    f->add = add;
    f->mul = mul;
    f->div = div;
    f->plus = plus;
    return true;
}

/* x times a whole number, plus one. */
static bool solve_affine(int n, const int64_t *x, const int64_t *at, sp_size_form *f)
{
    for (int k = 1; k < n; k++) {
        if (x[k] == x[0]) continue;
        if ((at[k] - at[0]) % (x[k] - x[0]) != 0) return false;
        int64_t mul = (at[k] - at[0]) / (x[k] - x[0]);
        if (mul == 0 || mul > 1 << 16 || mul < -(1 << 16)) return false;
        return is_form(n, x, at, 0, mul, 1, at[0] - mul * x[0]) && set_form(f, 0, mul, 1, at[0] - mul * x[0]);
    }
    return false;
}

/* x over a whole number, rounded down, up, or as windows with a stride do. */
static bool solve_part(int n, const int64_t *x, const int64_t *at, sp_size_form *f)
{
    for (int64_t div = 2; div <= 1024; div++) {
        const int64_t rounding[] = {0, div - 1, div / 2, 1, 2, 3, 4, div - 2, div - 3, div - 4};
        for (size_t r = 0; r < sizeof rounding / sizeof *rounding; r++) {
            const int64_t add = rounding[r], plus = at[0] - floor_div(x[0] + add, div);
            if (add < 0 || add >= div || plus > 16 || plus < -16) continue;
            if (is_form(n, x, at, add, 1, div, plus)) return set_form(f, add, 1, div, plus);
        }
    }
    return false;
}

static bool solve_sum(const sp_sizes *s, const int64_t *at, sp_size_form *f)
{
    for (int i = 0; i < s->n_sources; i++)
        for (int j = 0; j < s->n_sources; j++)
            for (int sign = 1; sign >= -1 && i != j; sign -= 2) {
                const int64_t *x = s->sources[i].at, *y = s->sources[j].at, plus = at[0] - x[0] - sign * y[0];
                bool ok = true;
                for (int k = 1; k < s->n; k++) ok = ok && at[k] == x[k] + sign * y[k] + plus;
                if (!ok || (sign > 0 && j < i)) continue;
                *f = (sp_size_form){
                    .n = 2, .of = {&s->sources[i], &s->sources[j]}, .sum = true, .mul = sign, .div = 1, .plus = plus};
                return true;
            }
    return false;
}

static bool solve_products(const sp_sizes *s, const int64_t *at, bool parts, sp_size_form *f)
{
    int64_t two[SP_TRIALS_MAX], three[SP_TRIALS_MAX];
    for (int i = 0; i < s->n_sources; i++)
        for (int j = i; j < s->n_sources; j++) {
            for (int k = 0; k < s->n; k++) two[k] = s->sources[i].at[k] * s->sources[j].at[k];
            *f = (sp_size_form){.n = 2, .of = {&s->sources[i], &s->sources[j]}};
            if (parts ? solve_part(s->n, two, at, f) : solve_affine(s->n, two, at, f)) return true;
            for (int l = j; !parts && l < s->n_sources && s->n_sources <= 24; l++) {
                for (int k = 0; k < s->n; k++) three[k] = two[k] * s->sources[l].at[k];
                *f = (sp_size_form){.n = 3, .of = {&s->sources[i], &s->sources[j], &s->sources[l]}};
                if (solve_affine(s->n, three, at, f)) return true;
            }
        }
    return false;
}

bool sp__sizes_solve(const sp_sizes *s, const int64_t *at, sp_size_form *f)
{
    for (int i = 0; i < s->n_sources; i++)
        if (!memcmp(s->sources[i].at, at, (size_t)s->n * sizeof *at)) {
            *f = (sp_size_form){.n = 1, .of = {&s->sources[i]}};
            return set_form(f, 0, 1, 1, 0);
        }
    for (int parts = 0; parts < 2; parts++)
        for (int i = 0; i < s->n_sources; i++) {
            *f = (sp_size_form){.n = 1, .of = {&s->sources[i]}};
            if (parts ? solve_part(s->n, s->sources[i].at, at, f) : solve_affine(s->n, s->sources[i].at, at, f))
                return true;
        }
    return solve_products(s, at, false, f) || solve_sum(s, at, f) || solve_products(s, at, true, f);
}
