/* SPDX-License-Identifier: Apache-2.0 */
/* vmap_products.c - batching rules of matrix products and convolutions.
 *
 * Where one side is shared by all slices, these become rows (images) of one large product; where both differ, there is a product
 * for each slice: a batch of matrices, or a group of channels. */
#include "ir/matmul_geometry.h"
#include "ir/window.h"
#include "ops/kernels.h"

/* --- matmul ------------------------------------------------------------------------------------------------------ */

/* in[i] with the slices in front of at least two dimensions of its own, and `lead` in front of these. A vector becomes a row
 * (i = 0) or a column (i = 1). */
static sp_tensor *as_matrices(sp_builder *b, const sp_batch *v, int i, int lead)
{
    sp_tensor *x = v->in[i];
    const int rank = sp__batch_rank(v, i);
    const int64_t *own = sp__batch_dims(v, i);
    int64_t dims[SP_RANK_MAX + 1];
    int n = 0;
    if (v->batched[i]) dims[n++] = v->size;
    if (v->batched[i]) /* an unbatched one is lined up by broadcasting */
        for (int k = rank > 2 ? rank - 2 : 0; k < lead; k++) dims[n++] = 1;
    if (rank == 1 && i == 0) dims[n++] = 1;
    for (int k = 0; k < rank; k++) dims[n++] = own[k];
    if (rank == 1 && i == 1) dims[n++] = 1;
    if (n > SP_RANK_MAX) return sp__builder_fail(b, sp__fail(SP_VALUE, "a batch of matrices has too many dimensions"));
    return n == x->rank ? x : sp_reshape(b, x, n, dims);
}

/* A product over one term is the product of its elements: no matrices of one row or column. */
static sp_tensor *outer_product(sp_builder *b, sp_tensor *x, sp_tensor *y, bool ta, bool tb)
{
    if (ta) x = sp_swap_axes(b, x, -1, -2);
    if (tb) y = sp_swap_axes(b, y, -1, -2);
    return sp_mul(b, x, y);
}

sp_status sp__batch_matmul(sp_builder *b, const sp_batch *v)
{
    const sp_matmul_attrs *a = v->attrs;
    const int rx = sp__batch_rank(v, 0), ry = sp__batch_rank(v, 1);
    const bool ta = a->transpose_a && rx > 1, tb = a->transpose_b && ry > 1;
    sp_tensor *x = v->in[0], *y = v->in[1];
    if (!v->batched[1] && ry <= 2 && !ta) { /* rows of x, whatever is in front of them */
        v->out[0] = sp_matmul(b, x, y, false, tb);
        return sp__builder_status(b);
    }
    if (!v->batched[0] && rx == 2 && ry == 1) { /* columns: rows of the transposed product */
        v->out[0] = sp_matmul(b, y, x, false, !ta);
        return sp__builder_status(b);
    }
    const int lead = (rx > ry ? rx : ry) > 2 ? (rx > ry ? rx : ry) - 2 : 0;
    x = as_matrices(b, v, 0, lead);
    y = as_matrices(b, v, 1, lead);
    if (!x || !y) return sp__builder_status(b);
    const int64_t terms = x->dims[x->rank - (ta ? 2 : 1)];
    sp_tensor *z =
        terms == 1 && v->batched[0] && v->batched[1] ? outer_product(b, x, y, ta, tb) : sp_matmul(b, x, y, ta, tb);
    if (z && (rx == 1 || ry == 1)) { /* the dimensions that vectors were given */
        int64_t dims[SP_RANK_MAX];
        int n = 0;
        for (int k = 0; k < z->rank; k++)
            if (!(k == z->rank - 2 && rx == 1) && !(k == z->rank - 1 && ry == 1)) dims[n++] = z->dims[k];
        z = sp_reshape(b, z, n, dims);
    }
    v->out[0] = z;
    return sp__builder_status(b);
}

/* --- convolutions ------------------------------------------------------------------------------------------------ */

/* [size, n, channels, ...] as [n, size * channels, ...]: a group of channels for every slice; and back. */
static sp_tensor *to_groups(sp_builder *b, sp_tensor *x)
{
    return sp__batch_merge(b, sp__batch_move(b, x, 0, 1), 1, 2);
}
static sp_tensor *from_groups(sp_builder *b, sp_tensor *x, int64_t size)
{
    return sp__batch_move(b, sp__batch_unmerge(b, x, 1, size), 1, 0);
}

/* v's operator with a group of channels for every slice. */
static sp_status grouped(sp_builder *b, const sp_batch *v, sp_tensor *const *in)
{
    sp_conv_attrs attrs = *(const sp_conv_attrs *)v->attrs;
    attrs.group *= v->size;
    return sp__batch_apply(b, v, &attrs, in);
}

/* A bias per slice is added afterwards, and has the shape of the channels. */
static sp_tensor *add_bias(sp_builder *b, const sp_batch *v, sp_tensor *y)
{
    sp_tensor *bias = v->in[2];
    if (!bias || !y) return y;
    int64_t dims[SP_RANK_MAX];
    for (int k = 0; k < y->rank; k++) dims[k] = 1;
    if (v->batched[2]) dims[0] = v->size;
    dims[2] = bias->dims[bias->rank - 1];
    return sp_add(b, y, sp_reshape(b, bias, y->rank, dims));
}

sp_status sp__batch_conv(sp_builder *b, const sp_batch *v)
{
    sp_tensor *in[3] = {v->in[0], v->in[1], NULL};
    if (v->batched[1]) {
        in[0] = to_groups(b, sp__batch_spread(b, v, 0));
        in[1] = sp__batch_merge(b, v->in[1], 0, 2);
        SP_TRY(grouped(b, v, in));
        v->out[0] = add_bias(b, v, from_groups(b, v->out[0], v->size));
        return sp__builder_status(b);
    }
    const bool own_bias = v->in[2] && v->batched[2];
    if (!v->batched[0]) { /* the bias alone differs */
        SP_TRY(sp__batch_apply(b, v, NULL, in));
        v->out[0] = add_bias(b, v, sp__batch_unmerge(b, v->out[0], 0, 1));
        return sp__builder_status(b);
    }
    in[0] = sp__batch_merge(b, v->in[0], 0, 2);
    if (!own_bias) in[2] = v->in[2];
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    v->out[0] = sp__batch_unmerge(b, v->out[0], 0, v->size);
    if (own_bias) v->out[0] = add_bias(b, v, v->out[0]);
    return sp__builder_status(b);
}

sp_status sp__batch_conv_input_grad(sp_builder *b, const sp_batch *v)
{
    sp_tensor *in[2] = {v->in[0], v->in[1]};
    if (v->batched[1]) {
        in[0] = to_groups(b, sp__batch_spread(b, v, 0));
        in[1] = sp__batch_merge(b, v->in[1], 0, 2);
        SP_TRY(grouped(b, v, in));
        v->out[0] = from_groups(b, v->out[0], v->size);
        return sp__builder_status(b);
    }
    in[0] = sp__batch_merge(b, v->in[0], 0, 2);
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    v->out[0] = sp__batch_unmerge(b, v->out[0], 0, v->size);
    return sp__builder_status(b);
}

/* A gradient of the weight for every slice. */
sp_status sp__batch_conv_weight_grad(sp_builder *b, const sp_batch *v)
{
    sp_tensor *in[2];
    for (int i = 0; i < 2; i++) in[i] = to_groups(b, sp__batch_spread(b, v, i));
    SP_TRY(grouped(b, v, in));
    v->out[0] = sp__batch_unmerge(b, v->out[0], 0, v->size);
    return sp__builder_status(b);
}
