/* SPDX-License-Identifier: Apache-2.0 */
/* transform.c - the table of transforms, making one from its name and arguments, and applying one or several to a row. */
#include "base/handle.h"
#include "base/messages.h"
#include "data/transform.h"

#include <stdio.h>

static const sp_transform_op *const table[] = {
#define SP_TRANSFORM(name) &sp_transform_##name,
#include "data/transforms.def"
#undef SP_TRANSFORM
};
enum { N_OPS = sizeof table / sizeof *table };

int sp_transform_count(void) { return N_OPS; }
const char *sp_transform_name_at(int i) { return i >= 0 && i < N_OPS ? table[i]->name : NULL; }

static const sp_transform_op *find(const char *name)
{
    for (int i = 0; i < N_OPS; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

/* --- arguments --------------------------------------------------------------------------------------------------- */

static int n_attrs(const sp_transform_op *op)
{
    int n = 0;
    while (n < SP_TRANSFORM_ATTRS && op->attrs[n].name) n++;
    return n;
}

static sp_status fail_unknown(const sp_transform_op *op, const char *name)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; i < n_attrs(op) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", op->attrs[i].name);
    return sp__fail(SP_TYPE, "%s has no argument '%s'; it takes: %s", op->name, name, known[0] ? known : "none");
}

static sp_status set_attr(sp_transform *t, int i, int n, const double *values)
{
    const sp_transform_attr *a = &t->op->attrs[i];
    SP_CHECK(n >= a->n_min && (a->n_max == 0 || n <= a->n_max), SP_TYPE, "%s: %s takes %d%s%.0d numbers, but got %d",
             t->op->name, a->name, a->n_min,
             a->n_max == a->n_min ? ""
             : a->n_max           ? " to "
                                  : " or more",
             a->n_max == a->n_min ? 0 : a->n_max, n);
    for (int k = 0; k < n; k++) {
        SP_CHECK(isfinite(values[k]), SP_VALUE, "%s: %s must be a finite number, but got %g", t->op->name, a->name,
                 values[k]);
        SP_CHECK((a->lo == 0 && a->hi == 0) || (values[k] >= a->lo && values[k] <= a->hi), SP_VALUE,
                 "%s: %s must be from %g to %g, but got %g", t->op->name, a->name, a->lo, a->hi, values[k]);
    }
    double *copy = sp__alloc((size_t)(n > 0 ? n : 1) * sizeof *copy);
    if (!copy) return SP_NOMEM;
    if (n > 0) memcpy(copy, values, (size_t)n * sizeof *copy);
    sp__free(t->attr[i].v);
    t->attr[i].v = copy;
    t->attr[i].n = n;
    return SP_OK;
}

static sp_status set_attrs(sp_transform *t, int n_args, const sp_transform_arg *args)
{
    const int n = n_attrs(t->op);
    for (int k = 0; k < n_args; k++) {
        int i = 0;
        while (i < n && strcmp(t->op->attrs[i].name, args[k].name) != 0) i++;
        if (i == n) return fail_unknown(t->op, args[k].name);
        SP_TRY(set_attr(t, i, args[k].n, args[k].values));
    }
    for (int i = 0; i < n; i++) {
        if (t->attr[i].v) continue;
        const sp_transform_attr *a = &t->op->attrs[i];
        SP_CHECK(a->n_default >= 0, SP_TYPE, "%s: the argument %s is missing", t->op->name, a->name);
        SP_TRY(set_attr(t, i, a->n_default, a->preset));
    }
    return t->op->check ? t->op->check(t) : SP_OK;
}

static const char *name_at(const void *unused, int i)
{
    (void)unused;
    return sp_transform_name_at(i);
}

sp_status sp_transform_create(const char *name, int n_args, const sp_transform_arg *args, int n_children,
                              sp_transform *const *children, sp_transform **out)
{
    const sp_transform_op *op = find(name);
    if (!op) {
        const char *near = sp__nearest(name, strlen(name), sp_transform_count(), name_at, NULL);
        return sp__fail(SP_KEY, "there is no transform '%s'%s%s%s", name, near ? "; did you mean '" : "",
                        near ? near : "", near ? "'?" : "");
    }
    SP_CHECK(op->compound || n_children == 0, SP_TYPE, "%s does not apply other transforms", name);
    sp_status status = SP_OK;
    sp_transform *t = sp__alloc_zero(sizeof *t);
    if (!t) return SP_NOMEM;
    atomic_init(&t->refs, 1);
    t->op = op;
    t->random = op->random;
    t->children = sp__alloc((size_t)(n_children + 1) * sizeof *t->children);
    if (!t->children) {
        sp__free(t);
        return SP_NOMEM;
    }
    for (int i = 0; i < n_children; i++) {
        t->children[i] = sp_transform_retain(children[i]);
        t->random = t->random || children[i]->random;
        t->n_children++;
    }
    SP_GOTO(done, set_attrs(t, n_args, args));
    *out = t;
    t = NULL;
done:
    sp_transform_release(t);
    return status;
}

sp_transform *sp_transform_retain(sp_transform *t)
{
    if (t) atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void sp_transform_release(sp_transform *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    for (int i = 0; i < t->n_children; i++) sp_transform_release(t->children[i]);
    for (int i = 0; i < SP_TRANSFORM_ATTRS; i++) sp__free(t->attr[i].v);
    sp__free(t->children);
    sp__free(t);
}

const char *sp_transform_name(const sp_transform *t) { return t ? t->op->name : NULL; }
bool sp_transform_is_random(const sp_transform *t) { return t && t->random; }

/* --- applying ---------------------------------------------------------------------------------------------------- */

sp_status sp__give(sp_transform_call *c, sp_tensor *result)
{
    if (c->n_out == c->max_out) {
        sp_tensor_release(result);
        return sp__fail(SP_VALUE, "%s makes more than the %d columns there is room for", c->t->op->name, c->max_out);
    }
    c->out[c->n_out++] = result;
    return SP_OK;
}

/* The images of a batch one by one, from the same place of the stream; results of one shape put together again. */
static sp_status run_batch(sp_transform_call *c, sp_image_kernel kernel)
{
    const sp_tensor *in = c->in[0];
    const int lead = in->rank - 3;
    int64_t n = 1, dims[SP_RANK_MAX], at = 0;
    sp_tensor *dense = NULL, *all = NULL;
    for (int i = 0; i < lead; i++) n *= in->dims[i];
    sp_status status;
    SP_GOTO(done, sp_tensor_contiguous(c->in[0], &dense));
    const sp_stream start = *c->stream;
    for (int64_t i = 0; i < n; i++) {
        sp_tensor *one = NULL, *made = NULL;
        sp_transform_call each = *c;
        *c->stream = start;
        each.in = &one, each.into = NULL, each.n_out = 0, each.max_out = 1, each.out = &made;
        SP_GOTO(done, sp_tensor_view(dense, 3, dense->dims + lead, dense->strides + lead, i * dense->strides[lead - 1],
                                     &one));
        status = sp__run_image(&each, kernel);
        sp_tensor_release(one);
        if (status == SP_OK && !all) {
            memcpy(dims, in->dims, (size_t)lead * sizeof *dims);
            memcpy(dims + lead, made->dims, (size_t)made->rank * sizeof *dims);
            status = sp_tensor_create((sp_dtype)made->dtype, lead + made->rank, dims, &all);
        }
        if (status == SP_OK) {
            sp_tensor *place = NULL;
            status = sp_tensor_view(all, made->rank, made->dims, all->strides + lead, at, &place);
            if (status == SP_OK) status = sp_tensor_assign(place, made);
            sp_tensor_release(place);
            at += made->count;
        }
        sp_tensor_release(made);
        if (status != SP_OK) goto done;
    }
    if (!all) {
        status = sp__fail(SP_RUNTIME, "%s: the batch holds no image", c->t->op->name);
        goto done;
    }
    status = sp__give(c, all);
    all = NULL;
done:
    sp_tensor_release(dense);
    sp_tensor_release(all);
    return status;
}

sp_status sp__run_image(sp_transform_call *c, sp_image_kernel kernel)
{
    if (c->t->op->batched && c->in[0]->rank > 3 && c->in[0]->storage) return run_batch(c, kernel);
    sp_status status;
    sp_image in, out = {.owner = NULL};
    sp_tensor *copy;
    SP_GOTO(done, sp__image_view(c->t->op->name, c->in[0], &in, &copy));
    SP_GOTO(done, kernel(c, &in, &out));
    SP_GOTO(done, sp__give(c, out.owner));
    out.owner = NULL;
done:
    sp_tensor_release(copy);
    if (status != SP_OK) sp_tensor_release(out.owner);
    return status;
}

static void release_all(int n, sp_tensor **t)
{
    for (int i = 0; i < n; i++) sp_tensor_release(t[i]);
}

/* One transform on all columns; results may be views. */
static sp_status run_one(const sp_transform *t, sp_stream *stream, int n_in, sp_tensor *const *in, sp_tensor *into,
                         int max_out, sp_tensor **out, int *n_out)
{
    sp_transform_call c = {
        .t = t, .into = into, .stream = stream, .n_in = n_in, .in = in, .max_out = max_out, .out = out};
    sp_status status = SP_OK;
    if (t->op->whole_row) {
        status = t->op->run(&c);
    } else {
        const sp_stream start = *stream;
        SP_CHECK(n_in > 0, SP_VALUE, "%s: there is no column to work on", t->op->name);
        c.n_in = 1;
        for (int i = 0; i < n_in && status == SP_OK; i++) {
            *stream = start;
            c.in = in + i;
            status = t->op->run(&c);
        }
    }
    if (status != SP_OK) release_all(c.n_out, out);
    else *n_out = c.n_out;
    return status;
}

/* Resize and CenterCrop: only what is left is computed. SP_DECLINED: one after the other. */
static sp_status run_resize_crop(const sp_transform *resize, const sp_transform *crop, sp_tensor *in, sp_tensor **out)
{
    sp_image m, made = {.owner = NULL};
    sp_tensor *copy = NULL;
    if (in->rank != 3 || !in->storage || in->dims[0] == 0 || in->dims[1] == 0 || in->dims[2] == 0) return SP_DECLINED;
    sp_status status = sp__image_view(resize->op->name, in, &m, &copy);
    if (status == SP_OK) status = sp__image_resize_crop(resize, crop, &m, &made);
    sp_tensor_release(copy);
    if (status == SP_OK) *out = made.owner;
    else sp_tensor_release(made.owner);
    return status;
}

/* Normalize and HWC2CHW in one pass over the pixels. */
static sp_status run_fused(const sp_transform *t, int n_in, sp_tensor *const *in, sp_tensor *into, int max_out,
                           sp_tensor **out, int *n_out)
{
    sp_transform_call c = {.t = t, .max_out = max_out, .out = out};
    sp_status status = SP_OK;
    for (int i = 0; i < n_in && status == SP_OK; i++) {
        sp_image m, made = {.owner = NULL};
        sp_tensor *copy;
        status = sp__image_view(t->op->name, in[i], &m, &copy);
        if (status == SP_OK) status = sp__image_normalize(t, &m, true, into, &made);
        if (status == SP_OK) status = sp__give(&c, made.owner);
        sp_tensor_release(copy);
    }
    if (status != SP_OK) release_all(c.n_out, out);
    else *n_out = c.n_out;
    return status;
}

/* Two transforms in one, if they are such a pair; else SP_DECLINED. */
static sp_status run_pair(const sp_transform *a, const sp_transform *b, int n_in, sp_tensor *const *in, sp_tensor *into,
                          sp_tensor **out, int *n_out)
{
    if (a->op == &sp_transform_Normalize && b->op == &sp_transform_HWC2CHW && a->attr[2].v[0] != 0)
        return run_fused(a, n_in, in, into, SP_COLUMNS_MAX, out, n_out);
    if (a->op != &sp_transform_Resize || b->op != &sp_transform_CenterCrop || n_in != 1) return SP_DECLINED;
    const sp_status status = run_resize_crop(a, b, in[0], out);
    if (status == SP_OK) *n_out = 1;
    return status;
}

/* A view is given out only where it is dense and does not keep much more memory alive than it shows. */
static sp_status make_dense(int n, sp_tensor **t, const sp_tensor *into)
{
    for (int i = 0; i < n; i++) {
        if (!t[i]->storage || t[i] == into) continue;
        if ((t[i]->flags & SP_TENSOR_CONTIGUOUS) && t[i]->storage->bytes <= 2 * sp_tensor_bytes(t[i]) + 4096) continue;
        if (!(t[i]->flags & SP_TENSOR_VIEW) && (t[i]->flags & SP_TENSOR_CONTIGUOUS)) continue;
        sp_tensor *dense = NULL;
        SP_TRY(sp_tensor_copy(t[i], &dense));
        sp_tensor_release(t[i]);
        t[i] = dense;
    }
    return SP_OK;
}

static sp_status run_list(int n, sp_transform *const *list, sp_stream *stream, int n_in, sp_tensor *const *in,
                          sp_tensor *into, sp_tensor **now, int *n_now)
{
    sp_tensor *next[SP_COLUMNS_MAX];
    *n_now = 0;
    for (int i = 0; i < n_in; i++) now[(*n_now)++] = sp_tensor_retain(in[i]);
    for (int i = 0; i < n; i++) {
        int n_next = 0;
        sp_tensor *here =
            *n_now == 1 ? into : NULL; /* for the last result only: what is between is never written there */
        sp_status status = SP_DECLINED;
        if (i + 1 < n) status = run_pair(list[i], list[i + 1], *n_now, now, i + 2 == n ? here : NULL, next, &n_next);
        if (status != SP_DECLINED) i++;
        else status = run_one(list[i], stream, *n_now, now, i + 1 == n ? here : NULL, SP_COLUMNS_MAX, next, &n_next);
        release_all(*n_now, now);
        *n_now = 0;
        if (status != SP_OK) return status;
        memcpy(now, next, (size_t)n_next * sizeof *now);
        *n_now = n_next;
    }
    return SP_OK;
}

sp_status sp_transform_run_all(int n, sp_transform *const *list, sp_stream *stream, int n_in, sp_tensor *const *in,
                               int max_out, sp_tensor **out, int *n_out)
{
    return sp__transform_run_into(n, list, stream, n_in, in, NULL, max_out, out, n_out);
}

sp_status sp__transform_run_into(int n, sp_transform *const *list, sp_stream *stream, int n_in, sp_tensor *const *in,
                                 sp_tensor *into, int max_out, sp_tensor **out, int *n_out)
{
    sp_stream none = {0};
    SP_CHECK(n_in >= 0 && n_in <= SP_COLUMNS_MAX, SP_VALUE, "a row of %d columns is too wide, at most %d are possible",
             n_in, SP_COLUMNS_MAX);
    SP_HANDLES(n, list);
    SP_HANDLES(n_in, in);
    for (int i = 0; i < n && !stream; i++)
        SP_CHECK(!list[i]->random, SP_VALUE, "%s is random and needs a stream of numbers", list[i]->op->name);
    sp_tensor *made[SP_COLUMNS_MAX];
    int n_made = 0;
    sp_status status;
    SP_GOTO(done, run_list(n, list, stream ? stream : &none, n_in, in, into, made, &n_made));
    if (n_made > max_out) {
        status = sp__fail(SP_VALUE, "%d columns were made, but there is room for %d", n_made, max_out);
        goto done;
    }
    SP_GOTO(done, make_dense(n_made, made, into));
    memcpy(out, made, (size_t)n_made * sizeof *out);
    if (n_out) *n_out = n_made;
    n_made = 0;
done:
    release_all(n_made, made);
    return status;
}

sp_status sp_transform_run(const sp_transform *t, sp_stream *stream, int n_in, sp_tensor *const *in, int max_out,
                           sp_tensor **out, int *n_out)
{
    SP_HANDLE(t);
    sp_transform *list[1] = {(sp_transform *)(uintptr_t)t}; /* only read */
    return sp_transform_run_all(1, list, stream, n_in, in, max_out, out, n_out);
}
