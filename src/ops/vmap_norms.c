/* SPDX-License-Identifier: Apache-2.0 */
/* vmap_norms.c - batching rules of normalisations over rows.
 *
 * Statistics are of single rows, so more rows change nothing. Parameters of the slices' own are applied afterwards, and gradients
 * of parameters, which sum over the rows of a slice, are summed here. */
#include "ops/kernels.h"

/* A parameter of rank r as what broadcasts against [size, ..., its dimensions from slice axis `first` on]. */
static sp_tensor *lined_up(sp_builder *b, const sp_batch *v, int i, int rank, int first, const int64_t *dims_x)
{
    sp_tensor *p = v->in[i];
    if (!p) return NULL;
    int64_t dims[SP_RANK_MAX];
    dims[0] = v->batched[i] ? v->size : 1;
    for (int k = 0; k < rank; k++) dims[k + 1] = k < first ? 1 : dims_x[k];
    return sp_reshape(b, p, rank + 1, dims);
}

static bool is_batched(const sp_batch *v, int i) { return v->in[i] && v->batched[i]; }

static void shift_axes(sp_layer_norm_attrs *a, int rank)
{
    a->begin_norm_axis += a->begin_norm_axis < 0 ? rank + 1 : 1;
    a->begin_params_axis += a->begin_params_axis < 0 ? rank + 1 : 1;
}

sp_status sp__batch_layer_norm(sp_builder *b, const sp_batch *v)
{
    sp_layer_norm_attrs a = *(const sp_layer_norm_attrs *)v->attrs;
    const int rank = sp__batch_rank(v, 0);
    shift_axes(&a, rank);
    const bool own = is_batched(v, 1) || is_batched(v, 2);
    sp_tensor *in[3] = {sp__batch_spread(b, v, 0), own ? NULL : v->in[1], own ? NULL : v->in[2]};
    SP_TRY(sp__batch_apply(b, v, &a, in));
    if (!own) return SP_OK;
    const int first = (int)a.begin_params_axis - 1;
    const int64_t *dims = sp__batch_dims(v, 0);
    if (v->in[1]) v->out[0] = sp_mul(b, v->out[0], lined_up(b, v, 1, rank, first, dims));
    if (v->in[2]) v->out[0] = sp_add(b, v->out[0], lined_up(b, v, 2, rank, first, dims));
    return sp__builder_status(b);
}

/* Sums of x over slice axes below `first`, as one row a slice in dtype. */
static sp_tensor *row_sums(sp_builder *b, const sp_batch *v, sp_tensor *x, int first, sp_dtype dtype)
{
    int64_t axes[SP_RANK_MAX];
    for (int k = 0; k < first; k++) axes[k] = k + 1;
    if (first) x = sp_reduce_sum(b, x, first, axes, false);
    if (!x) return NULL;
    return sp_cast(b, sp_reshape(b, x, 2, (const int64_t[]){v->size, -1}), dtype);
}

sp_status sp__batch_layer_norm_grad(sp_builder *b, const sp_batch *v)
{
    sp_layer_norm_attrs a = *(const sp_layer_norm_attrs *)v->attrs;
    const int rank = sp__batch_rank(v, 0);
    shift_axes(&a, rank);
    const int first = (int)a.begin_params_axis - 1;
    const bool own = is_batched(v, 1);
    const sp_dtype dtype = (sp_dtype)(v->in[1] ? v->in[1] : v->in[0])->dtype;
    sp_tensor *x = sp__batch_spread(b, v, 0), *g = sp__batch_spread(b, v, 2), *norm[3];
    sp_tensor *in[3] = {x, own ? NULL : v->in[1], g};
    if (own) in[2] = sp_mul(b, g, lined_up(b, v, 1, rank, first, sp__batch_dims(v, 0)));
    int n;
    SP_TRY(sp__batch_apply(b, v, &a, in));
    SP_TRY(sp_builder_apply_many(b, &sp_op_layer_norm, &a, 3, (sp_tensor *const[]){x, NULL, NULL}, 3, norm, &n));
    v->out[1] = row_sums(b, v, sp_mul(b, g, norm[0]), first, dtype);
    v->out[2] = row_sums(b, v, g, first, dtype);
    return sp__builder_status(b);
}

/* Ones in the shape of a slice of gamma, where the operator cannot do without. */
static sp_tensor *ones_like_gamma(sp_builder *b, const sp_batch *v)
{
    return sp__full(b, 1, (sp_dtype)v->in[1]->dtype, sp__batch_rank(v, 1), sp__batch_dims(v, 1));
}

sp_status sp__batch_rms_norm(sp_builder *b, const sp_batch *v)
{
    const int rank = sp__batch_rank(v, 0), first = rank - sp__batch_rank(v, 1);
    const bool own = v->batched[1];
    sp_tensor *in[2] = {sp__batch_spread(b, v, 0), own ? ones_like_gamma(b, v) : v->in[1]};
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    if (own) v->out[0] = sp_mul(b, v->out[0], lined_up(b, v, 1, rank, first, sp__batch_dims(v, 0)));
    return sp__builder_status(b);
}

sp_status sp__batch_rms_norm_grad(sp_builder *b, const sp_batch *v)
{
    const int rank = sp__batch_rank(v, 0), first = rank - sp__batch_rank(v, 1);
    const bool own = v->batched[1];
    sp_tensor *x = sp__batch_spread(b, v, 0), *g = sp__batch_spread(b, v, 2), *norm[2], *ones = ones_like_gamma(b, v);
    sp_tensor *in[3] = {x, own ? ones : v->in[1], g};
    if (own) in[2] = sp_mul(b, g, lined_up(b, v, 1, rank, first, sp__batch_dims(v, 0)));
    int n;
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    SP_TRY(sp_builder_apply_many(b, &sp_op_rms_norm, v->attrs, 2, (sp_tensor *const[]){x, ones}, 2, norm, &n));
    v->out[1] = row_sums(b, v, sp_mul(b, g, norm[0]), first, (sp_dtype)v->in[1]->dtype);
    return sp__builder_status(b);
}

/* --- groups of channels ------------------------------------------------------------------------------------------ */

/* A number per channel against [size, n, channels, ...]. */
static sp_tensor *per_channel(sp_builder *b, const sp_batch *v, int i, int rank)
{
    int64_t dims[SP_RANK_MAX];
    for (int k = 0; k <= rank; k++) dims[k] = 1;
    if (v->batched[i]) dims[0] = v->size;
    dims[2] = sp__batch_dims(v, i)[0];
    return sp_reshape(b, v->in[i], rank + 1, dims);
}

static sp_tensor *as_rows(sp_builder *b, const sp_batch *v, int i)
{
    return sp__batch_merge(b, sp__batch_spread(b, v, i), 0, 2);
}

sp_status sp__batch_group_norm(sp_builder *b, const sp_batch *v)
{
    const int rank = sp__batch_rank(v, 0);
    const bool own = is_batched(v, 1) || is_batched(v, 2);
    sp_tensor *in[3] = {as_rows(b, v, 0), own ? NULL : v->in[1], own ? NULL : v->in[2]};
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    for (int k = 0; k < v->n_out; k++) v->out[k] = sp__batch_unmerge(b, v->out[k], 0, v->size);
    if (own && v->in[1]) v->out[0] = sp_mul(b, v->out[0], per_channel(b, v, 1, rank));
    if (own && v->in[2]) v->out[0] = sp_add(b, v->out[0], per_channel(b, v, 2, rank));
    return sp__builder_status(b);
}

/* Sums over everything in a slice but its channels. */
static sp_tensor *channel_sums(sp_builder *b, sp_tensor *x, sp_dtype dtype)
{
    int64_t axes[SP_RANK_MAX];
    int n = 0;
    if (!x) return NULL;
    for (int k = 1; k < x->rank; k++)
        if (k != 2) axes[n++] = k;
    return sp_cast(b, sp_reduce_sum(b, x, n, axes, false), dtype);
}

sp_status sp__batch_group_norm_grad(sp_builder *b, const sp_batch *v)
{
    const int rank = sp__batch_rank(v, 0);
    const bool own = is_batched(v, 1);
    const sp_dtype dtype = (sp_dtype)(v->in[1] ? v->in[1] : v->in[0])->dtype;
    sp_tensor *x = as_rows(b, v, 0), *g = sp__batch_spread(b, v, 2), *norm[3];
    sp_tensor *dh = own ? sp_mul(b, g, per_channel(b, v, 1, rank)) : g;
    sp_tensor *in[3] = {x, own ? NULL : v->in[1], sp__batch_merge(b, dh, 0, 2)};
    int n;
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    SP_TRY(sp_builder_apply_many(b, &sp_op_group_norm, v->attrs, 3, (sp_tensor *const[]){x, NULL, NULL}, 3, norm, &n));
    v->out[0] = sp__batch_unmerge(b, v->out[0], 0, v->size);
    v->out[1] = channel_sums(b, sp_mul(b, g, sp__batch_unmerge(b, norm[0], 0, v->size)), dtype);
    v->out[2] = channel_sums(b, g, dtype);
    return sp__builder_status(b);
}
