/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - any view of a tensor, by dimensions, strides and offset: read and written.
 *
 * Histories use these where memory was written through one view and is read through another (src/eager/grad.c): whatever made
 * a view, it is a region of the row-major tensor that owns the memory. */
#include <stdlib.h>

#include "ops/kernels.h"

SP_ATTR_TABLE(region_attr_table, sp_region_attrs, (INTS_NEEDED, dims), (INTS_NEEDED, strides), (INT, offset, 0));

static sp_status check_region(const sp_tensor *x, const sp_region_attrs *a)
{
    SP_CHECK(a->dims.n >= 0 && a->dims.n <= SP_RANK_MAX && a->strides.n == a->dims.n, SP_VALUE,
             "the region has %d dimensions and %d strides", a->dims.n, a->strides.n);
    int64_t low = a->offset, high = a->offset, count = 1;
    for (int i = 0; i < a->dims.n; i++) {
        SP_CHECK(a->dims.v[i] >= 0, SP_VALUE, "dimension %d of the region is %lld", i, (long long)a->dims.v[i]);
        count *= a->dims.v[i] > 0;
        int64_t reach = (a->dims.v[i] - 1) * a->strides.v[i];
        if (reach < 0) low += reach;
        else high += reach;
    }
    SP_CHECK(count == 0 || (low >= 0 && high < x->count), SP_VALUE, "the region covers elements %lld to %lld of %lld",
             (long long)low, (long long)high, (long long)x->count);
    return SP_OK;
}

/* The region as a view of a row-major tensor. */
static sp_status region_handle(const sp_tensor *x, const sp_region_attrs *a, sp_tensor **out)
{
    SP_TRY(check_region(x, a));
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype);
    return sp__tensor_handle((sp_dtype)x->dtype, a->dims.n, a->dims.v, a->strides.v, x->storage,
                             x->data + a->offset * size, out);
}

/* Do two places of the region share an element? Sorted by stride, each dimension must step over all smaller ones. */
static bool overlaps(const sp_region_attrs *a)
{
    bool used[SP_RANK_MAX] = {false};
    int64_t reach = 0;
    for (int n = 0; n < a->dims.n; n++) {
        int best = -1;
        for (int i = 0; i < a->dims.n; i++)
            if (!used[i] && (best < 0 || llabs(a->strides.v[i]) < llabs(a->strides.v[best]))) best = i;
        used[best] = true;
        if (a->dims.v[best] <= 1) continue;
        if (llabs(a->strides.v[best]) <= reach) return true;
        reach += (a->dims.v[best] - 1) * llabs(a->strides.v[best]);
    }
    return false;
}

/* Number of each place of the region in x, as an int64 vector. */
static sp_tensor *places(sp_builder *b, const sp_region_attrs *a)
{
    int64_t count = 1, at[SP_RANK_MAX] = {0};
    for (int i = 0; i < a->dims.n; i++) count *= a->dims.v[i];
    sp_tensor *t = NULL;
    sp_status status = sp_tensor_create(SP_DTYPE_I64, 1, &count, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    int64_t *v = (int64_t *)(void *)t->data, where = a->offset;
    for (int64_t n = 0; n < count; n++) {
        v[n] = where;
        for (int k = a->dims.n - 1; k >= 0; k--) {
            where += a->strides.v[k];
            if (++at[k] < a->dims.v[k]) break;
            where -= a->dims.v[k] * a->strides.v[k];
            at[k] = 0;
        }
    }
    return sp_builder_take_tensor(b, t);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static sp_status get_infer(const sp_call *c, sp_meta *out)
{
    const sp_region_attrs *a = c->attrs;
    SP_TRY(check_region(c->in[0], a));
    out->dtype = (sp_dtype)c->in[0]->dtype;
    out->rank = a->dims.n;
    for (int i = 0; i < a->dims.n; i++) out->dims[i] = a->dims.v[i];
    return SP_OK;
}

static sp_status get_view(const sp_call *c)
{
    if (!(c->in[0]->flags & SP_TENSOR_CONTIGUOUS)) return SP_DECLINED;
    return region_handle(c->in[0], c->attrs, &c->out[0]);
}

static sp_status get_reference(const sp_call *c)
{
    sp_tensor *part;
    SP_TRY(region_handle(c->in[0], c->attrs, &part));
    sp_status status = sp_tensor_assign(c->out[0], part);
    sp_tensor_release(part);
    return status;
}

static sp_status get_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_region_attrs *a = v->attrs;
    if (!overlaps(a)) {
        sp_tensor *in[2] = {sp__zeros_like(b, v->in[0]), v->dout[0]};
        v->din[0] = sp_builder_apply(b, &sp_op_region_put, a, 2, in);
        return SP_OK;
    }
    const int64_t flat = v->in[0]->count, n = v->dout[0]->count, axis = 0;
    const sp_index_put_attrs add = {{1, &axis}, true};
    sp_tensor *in[3] = {sp__full(b, 0, (sp_dtype)v->in[0]->dtype, 1, &flat), sp_reshape(b, v->dout[0], 1, &n),
                        places(b, a)};
    v->din[0] = sp_reshape(b, sp_builder_apply(b, &sp_op_index_put, &add, 3, in), v->in[0]->rank, v->in[0]->dims);
    return SP_OK;
}

const sp_op sp_op_region_get = {
    .batch = sp__batch_region,
    .name = "region_get",
    .inputs = "x",
    SP_ATTRS(region_attr_table, sp_region_attrs),
    .infer = get_infer,
    .view = get_view,
    .reference = get_reference,
    .vjp = get_vjp,
    .doc = "The elements of x, counted row by row, that dims, strides and offset reach.",
    .samples = "[4,5] dims=(2,3) strides=(10,2) offset=1; [6] dims=(4,3) strides=(1,1); [3] dims=(2,3) strides=(0,1); "
               "[2,3] dims=() strides=() offset=4; [5] dims=(0,2) strides=(1,1)",
};

/* --- writing ----------------------------------------------------------------------------------------------------- */

static sp_status put_infer(const sp_call *c, sp_meta *out)
{
    const sp_region_attrs *a = c->attrs;
    char text[2][SP_SHAPE_TEXT];
    SP_TRY(check_region(c->in[0], a));
    SP_CHECK(!overlaps(a), SP_VALUE, "a region that shows an element twice cannot be written to");
    SP_CHECK(sp__shape_equal(a->dims.n, a->dims.v, c->in[1]->rank, c->in[1]->dims), SP_VALUE,
             "the region has shape %s, but the value has %s", sp__shape_text(a->dims.n, a->dims.v, text[0]),
             sp__shape_text(c->in[1]->rank, c->in[1]->dims, text[1]));
    sp__meta_of(c->in[0], out);
    return SP_OK;
}

static sp_status put_reference(const sp_call *c)
{
    sp_meta checked;
    SP_TRY(put_infer(c, &checked));
    sp_tensor *part;
    SP_TRY(region_handle(c->in[0], c->attrs, &part));
    sp_status status = sp_tensor_assign(part, c->in[1]);
    sp_tensor_release(part);
    return status;
}

static sp_status put_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0]) {
        sp_tensor *in[2] = {sp_builder_apply(b, &sp_op_copy, NULL, 1, &v->dout[0]), sp__zeros_like(b, v->in[1])};
        v->din[0] = sp_builder_apply(b, &sp_op_region_put, v->attrs, 2, in);
    }
    if (v->needs[1])
        v->din[1] =
            sp_cast(b, sp_builder_apply(b, &sp_op_region_get, v->attrs, 1, &v->dout[0]), (sp_dtype)v->in[1]->dtype);
    return SP_OK;
}

const sp_op sp_op_region_put = {
    .batch = sp__batch_region,
    .name = "region_put",
    .inputs = "x, value",
    SP_ATTRS(region_attr_table, sp_region_attrs),
    .infer = put_infer,
    .reference = put_reference,
    .writes = 1,
    .vjp = put_vjp,
    .doc = "Write value over the elements that region_get would give.",
    .samples =
        "[4,5] [2,3] dims=(2,3) strides=(10,2) offset=1; [3] [] dims=() strides=() offset=2; [4] [2] dims=(2,) strides=(-2,) "
        "offset=3",
};
