/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - tensors that go from one device to another. The copy is an operator, so that gradients take the way back and programs contain it. */
#include "eager/place.h"

#include "ops/ops_impl.h"
#include "spore/ops_attrs.h"

SP_ATTR_TABLE(device_copy_table, sp_device_copy_attrs, (TEXT, to, "cpu"), (TEXT, from, "cpu"));

/* Makes its result itself, which the others do not: in memory of another kind than the call's. */
static sp_status device_copy_view(const sp_call *c)
{
    const sp_device_copy_attrs *a = c->attrs;
    sp_device *to;
    sp_meta meta;
    sp_tensor *out = NULL;
    SP_TRY(sp_device_open(a->to, &to));
    sp__meta_of(c->in[0], &meta);
    SP_TRY(to ? sp__device_tensor(to, &meta, &out) : sp__tensor_from_meta(&meta, &out));
    const sp_status status = sp_tensor_assign(out, c->in[0]);
    if (status != SP_OK) sp_tensor_release(out);
    else c->out[0] = out;
    return status;
}

/* In main memory, for plans, which place nothing elsewhere. */
static sp_status device_copy_reference(const sp_call *c) { return sp_tensor_assign(c->out[0], c->in[0]); }

static sp_status device_copy_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_device_copy_attrs *a = v->attrs;
    const sp_device_copy_attrs back = {.to = a->from, .from = a->to};
    v->din[0] = sp_builder_apply(b, &sp_op_device_copy, &back, 1, v->dout);
    return SP_OK;
}

static sp_status device_copy_batch(sp_builder *b, const sp_batch *v)
{
    v->out[0] = sp_builder_apply(b, &sp_op_device_copy, v->attrs, 1, v->in);
    return SP_OK;
}

const sp_op sp_op_device_copy = {
    .name = "device_copy",
    .inputs = "x",
    SP_ATTRS(device_copy_table, sp_device_copy_attrs),
    .infer = sp__infer_same,
    .view = device_copy_view,
    .reference = device_copy_reference,
    .strided = true,
    .vjp = device_copy_vjp,
    .batch = device_copy_batch,
    .doc = "The same values on device `to`; gradients go to device `from`.",
    .samples = "[2,3]; []",
};

static sp_status moved(sp_tensor *t, sp_device *to, sp_tensor **out)
{
    const sp_device_copy_attrs attrs = {.to = sp_device_name(to), .from = sp_device_name(sp__tensor_device(t))};
    int n;
    return sp_apply(&sp_op_device_copy, &attrs, 1, &t, 1, out, &n);
}

sp_status sp_tensor_to(sp_tensor *t, sp_device *d, sp_tensor **out)
{
    SP_CHECK(t, SP_VALUE, "the tensor is NULL: an expression that should have made it has failed");
    if (!t->symbol && sp__tensor_device(t) == d) {
        *out = sp_tensor_retain(t);
        return SP_OK;
    }
    return moved(t, d, out);
}

sp_status sp__place_inputs(const sp_op *op, int n_in, sp_tensor **in, sp_tensor **made, int *n_made, sp_device **out)
{
    sp_device *d = NULL;
    *out = NULL;
    if (op == &sp_op_device_copy) return SP_OK;
    bool written = false;
    for (int i = 0; i < n_in; i++) {
        if (!in[i] || (op->writes && !(i < 8 && op->writes >> i & 1))) continue;
        sp_device *own = sp__tensor_device(in[i]);
        SP_CHECK(!written || own == d, SP_VALUE, "%s writes to tensors on devices %s and %s: they must be on one",
                 op->name, sp_device_name(d), sp_device_name(own));
        written = op->writes != 0;
        if (!d) d = own;
        if (d && !op->writes) break;
    }
    for (int i = 0; i < n_in; i++) {
        if (!in[i] || in[i]->symbol || sp__tensor_device(in[i]) == d) continue;
        SP_TRY(moved(in[i], d, &made[*n_made]));
        in[i] = made[(*n_made)++];
    }
    *out = d;
    return SP_OK;
}
