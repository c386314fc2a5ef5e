/* SPDX-License-Identifier: Apache-2.0 */
/* twins.c - see twins.h. */
#include "formats/twins.h"

#include <string.h>

bool sp__constant_counts(const sp_tensor *t, int64_t *start, int64_t *step)
{
    const int64_t *v = (const int64_t *)(const void *)t->data;
    if (t->dtype != SP_DTYPE_I64 || t->count < 2) return false;
    *start = v[0];
    *step = v[1] - v[0];
    for (int64_t i = 0; i < t->count; i++)
        if (v[i] - v[0] != i * *step) return false;
    return *step != 0;
}

bool sp__constant_equal(const sp_value *x, const sp_value *y)
{
    const sp_tensor *a = x->constant, *b = y->constant;
    return a == b || (a->dtype == b->dtype && sp__shape_equal(a->rank, a->dims, b->rank, b->dims) &&
                      !memcmp(a->data, b->data, sp_tensor_bytes((sp_tensor *)(uintptr_t)a)));
}

/* Equal; or of another size and either filled with one number (zeros to start from) or counting from the same number on. */
static bool same_constant(const sp_value *x, const sp_value *y)
{
    const sp_tensor *a = x->constant, *b = y->constant;
    int64_t start[2], step[2];
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    if (a->count == 1 && b->count == 1) return true;
    if (sp__shape_equal(a->rank, a->dims, b->rank, b->dims))
        return !memcmp(a->data, b->data, sp_tensor_bytes((sp_tensor *)a));
    if (sp__constant_counts(a, &start[0], &step[0]) && sp__constant_counts(b, &start[1], &step[1]))
        return start[0] == start[1] && step[0] == step[1];
    size_t bytes = sp_dtype_bytes((sp_dtype)a->dtype);
    bool same = a->count > 0 && b->count > 0;
    for (int64_t i = 0; i < a->count && same; i++) same = !memcmp(a->data, a->data + (size_t)i * bytes, bytes);
    for (int64_t i = 0; i < b->count && same; i++) same = !memcmp(a->data, b->data + (size_t)i * bytes, bytes);
    return same;
}

static bool same_node(const sp_node *x, const sp_node *y)
{
    if (!y || x->kind != y->kind || x->op != y->op || x->n_in != y->n_in || x->n_out != y->n_out) return false;
    for (int i = 0; i < x->n_in; i++) {
        if (!x->in[i] != !y->in[i]) return false;
        if (x->in[i] && (x->in[i]->origin != y->in[i]->origin || x->in[i]->meta.rank != y->in[i]->meta.rank))
            return false;
        if (x->in[i] && x->in[i]->origin == SP_VALUE_CONSTANT && !same_constant(x->in[i], y->in[i])) return false;
    }
    return true;
}

/* Results that are constants must be the same ones: nothing in the file could make them of another size. */
static bool same_results(const sp_function *f, const sp_function *t)
{
    if (f->n_results != t->n_results) return false;
    for (int i = 0; i < f->n_results; i++) {
        const sp_value *x = f->results[i], *y = t->results[i];
        if (x->origin != y->origin || x->meta.rank != y->meta.rank) return false;
        if (x->origin == SP_VALUE_CONSTANT &&
            (!sp__shape_equal(x->meta.rank, x->meta.dims, y->meta.rank, y->meta.dims) || !same_constant(x, y)))
            return false;
    }
    return true;
}

sp_status sp__graph_pair(sp_graph *g, sp_graph *other)
{
    sp_function *f = g->first, *t = other ? other->first : NULL;
    for (; f; f = f->next) {
        SP_CHECK(!other || t, SP_DECLINED, "with other sizes of the free dimensions the network is another one");
        sp_node *y = t ? t->first : NULL;
        f->mark = t;
        for (sp_node *x = f->first; x; x = x->next) {
            x->mark = y;
            SP_CHECK(!other || same_node(x, y), SP_DECLINED,
                     "with other sizes of the free dimensions %s%s%s computes something else",
                     x->op ? x->op->name : "a call", x->place && x->place->text ? " in " : "",
                     x->place && x->place->text ? x->place->text : "");
            y = y ? y->next : NULL;
        }
        SP_CHECK(!other || same_results(f, t), SP_DECLINED,
                 "a result is a constant that is another one with other sizes of the free dimensions");
        t = t ? t->next : NULL;
    }
    return SP_OK;
}
