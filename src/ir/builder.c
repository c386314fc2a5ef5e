/* SPDX-License-Identifier: Apache-2.0 */
/* builder.c - a scope that owns what is made in it and remembers the first failure. */
#include "base/handle.h"
#include "base/messages.h"
#include "ir/builder_keep.h"
#include "ir/refuse.h"

void sp__builder_init(sp_builder *b)
{
    b->status = SP_OK;
    b->n = 0;
    b->capacity = (int)(sizeof b->few / sizeof *b->few);
    b->owned = b->few;
}

void sp__builder_done(sp_builder *b)
{
    for (int i = 0; i < b->n; i++) sp_tensor_release(b->owned[i]);
    if (b->owned != b->few) sp__free(b->owned);
    sp__builder_init(b);
}

sp_status sp_builder_create(sp_builder **out)
{
    sp_builder *b = sp__alloc(sizeof *b);
    if (!b) return SP_NOMEM;
    sp__builder_init(b);
    *out = b;
    return SP_OK;
}

void sp_builder_release(sp_builder *b)
{
    if (!b) return;
    sp__builder_done(b);
    sp__free(b);
}

void sp_builder_reset(sp_builder *b)
{
    if (b) sp__builder_done(b);
}

void *sp__builder_fail(sp_builder *b, sp_status status)
{
    if (b && b->status == SP_OK) {
        b->status = status;
        sp_error_capture(status, &b->error);
    }
    return NULL;
}

sp_status sp_builder_status(const sp_builder *b)
{
    SP_HANDLE(b);
    return b->status == SP_OK ? SP_OK : sp_error_raise(&b->error);
}
sp_status sp__builder_status(sp_builder *b) { return sp_builder_status(b); }

sp_tensor *sp_builder_take_tensor(sp_builder *b, sp_tensor *t)
{
    if (!t) return NULL;
    if (!b) {
        sp_tensor_release(t);
        sp__fail(SP_VALUE, "sp_builder_take_tensor: b is NULL");
        return NULL;
    }
    if (b->n == b->capacity) {
        size_t old = (size_t)b->capacity * sizeof *b->owned;
        sp_tensor **more = b->owned == b->few ? sp__alloc(2 * old) : sp__realloc(b->owned, old, 2 * old);
        if (!more) {
            sp_tensor_release(t);
            return sp__builder_fail(b, SP_NOMEM);
        }
        if (b->owned == b->few) memcpy(more, b->few, old);
        b->owned = more;
        b->capacity *= 2;
    }
    b->owned[b->n++] = t;
    return b->status == SP_OK ? t : NULL;
}

sp_status sp__builder_keep(sp_builder *b, sp_tensor **t)
{
    *t = sp_builder_take_tensor(b, *t);
    return sp_builder_status(b);
}

sp_status sp_builder_apply_many(sp_builder *b, const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in,
                                int max_out, sp_tensor **out, int *n_out)
{
    SP_CHECK(b, SP_VALUE, "the builder is NULL: sp_builder_create makes one");
    if (b->status != SP_OK) return b->status;
    sp_status status = sp_apply(op, attrs, n_in, in, max_out, out, n_out);
    if (status != SP_OK) {
        sp__builder_fail(b, status);
        return status;
    }
    for (int i = 0; i < *n_out; i++) out[i] = sp_builder_take_tensor(b, out[i]);
    return b->status;
}

sp_tensor *sp_builder_apply(sp_builder *b, const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in)
{
    sp_tensor *out[SP_OUT_MAX];
    int n;
    return sp_builder_apply_many(b, op, attrs, n_in, in, SP_OUT_MAX, out, &n) == SP_OK ? out[0] : NULL;
}

static const char *op_name(const void *unused, int i)
{
    (void)unused;
    return sp_op_at(i)->name;
}

sp_status sp_builder_call_many(sp_builder *b, const char *name, const char *text, int n_in, sp_tensor *const *in,
                               int max_out, sp_tensor **out)
{
    for (int i = 0; i < max_out; i++) out[i] = NULL;
    SP_CHECK(b, SP_VALUE, "the builder is NULL: sp_builder_create makes one");
    if (b->status != SP_OK) return sp__builder_status(b);
    const sp_op *op = sp_op_find(name);
    if (!op) {
        const char *near = sp__nearest(name, strlen(name), sp_op_count(), op_name, NULL);
        sp__builder_fail(b, sp__fail(SP_KEY, "there is no operator '%s'%s%s%s", name, near ? "; did you mean '" : "",
                                     near ? near : "", near ? "'?" : ""));
        return SP_KEY;
    }
    sp_attr_text keep = {.n_blocks = 0};
    union {
        char bytes[256];
        max_align_t align;
    } small;
    void *attrs = op->attrs_bytes <= sizeof small ? small.bytes : sp__alloc(op->attrs_bytes);
    int n = 0;
    sp_status status = attrs ? sp__attrs_parse(op, text, attrs, &keep) : SP_NOMEM;
    if (status == SP_OK) status = sp_builder_apply_many(b, op, attrs, n_in, in, max_out, out, &n);
    else sp__builder_fail(b, status);
    sp__attr_text_free(&keep);
    if (attrs != small.bytes) sp__free(attrs);
    return status;
}

sp_tensor *sp_builder_call(sp_builder *b, const char *name, const char *text, int n_in, sp_tensor *const *in)
{
    sp_tensor *out[SP_OUT_MAX];
    return sp_builder_call_many(b, name, text, n_in, in, SP_OUT_MAX, out) == SP_OK ? out[0] : NULL;
}

sp_status sp__vjp_refuse(sp_builder *b, const sp_vjp *v)
{
    (void)b;
    return sp__fail(
        SP_RUNTIME,
        "there is none: %s; where this is to count as a constant, say so with stop_gradient (in C: sp_grad_detach)",
        v->op->no_vjp);
}
