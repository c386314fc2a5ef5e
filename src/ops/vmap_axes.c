/* SPDX-License-Identifier: Apache-2.0 */
/* vmap_axes.c - batching rules of operators that name dimensions: the slices come first, so every axis counts one more. */
#include "ops/kernels.h"

/* An axis of a slice as an axis of the batch. */
static int64_t shifted(int64_t axis, int rank) { return axis < 0 ? axis + rank + 1 : axis + 1; }

/* All inputs as batches. */
static sp_status spread_all(sp_builder *b, const sp_batch *v, sp_tensor **in)
{
    for (int i = 0; i < v->n_in; i++) in[i] = sp__batch_spread(b, v, i);
    return sp__builder_status(b);
}

/* Slices of rank 0 as slices of one element, and results back to rank 0. */
static sp_status of_numbers(sp_builder *b, const sp_batch *v, sp_tensor **in)
{
    const int64_t dims[2] = {v->size, 1};
    for (int i = 0; i < v->n_in; i++)
        if (in[i]) in[i] = sp_reshape(b, in[i], 2, dims);
    SP_TRY(sp__batch_apply(b, v, v->own_attrs, in));
    for (int k = 0; k < v->n_out; k++) v->out[k] = sp_reshape(b, v->out[k], 1, dims);
    return sp__builder_status(b);
}

/* The attributes that name axes of a slice as axes of the batch. */
static void shift_axes(const sp_batch *v)
{
    static const char *const names[] = {"axis", "dim", "dim1", "dim2"};
    const int rank = sp__batch_rank(v, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t *axis = sp__batch_field(v, names[i]);
        if (axis) *axis = rank ? shifted(*axis, rank) : 1;
    }
}

sp_status sp__batch_diagonal(sp_builder *b, const sp_batch *v)
{
    shift_axes(v);
    sp_tensor *in[2] = {sp__batch_spread(b, v, 0),
                        v->n_in > 1 ? sp__batch_fill(b, v, 1, sp__batch_rank(v, 0) - 1) : NULL};
    return sp__batch_apply(b, v, v->own_attrs, in);
}

sp_status sp__batch_axis(sp_builder *b, const sp_batch *v)
{
    shift_axes(v);
    const int rank = sp__batch_rank(v, 0);
    sp_tensor **in = sp__alloc((size_t)(v->n_in + 1) * sizeof *in);
    if (!in) return SP_NOMEM;
    sp_status status = spread_all(b, v, in);
    if (status == SP_OK) status = rank ? sp__batch_apply(b, v, v->own_attrs, in) : of_numbers(b, v, in);
    sp__free(in);
    return status;
}

sp_status sp__batch_reduce(sp_builder *b, const sp_batch *v)
{
    sp_ints *axes = sp__batch_field(v, "axis");
    const int rank = sp__batch_rank(v, 0);
    int64_t list[SP_RANK_MAX];
    int n = 0;
    sp_tensor *in[SP_IN_MAX];
    if (axes->n > SP_RANK_MAX) return SP_DECLINED;
    SP_TRY(spread_all(b, v, in));
    if (!rank) list[n++] = 1;
    else if (axes->n <= 0)
        for (; n < rank; n++) list[n] = n + 1;
    else
        for (; n < axes->n; n++) list[n] = shifted(axes->v[n], rank);
    *axes = (sp_ints){n, list};
    return rank ? sp__batch_apply(b, v, v->own_attrs, in) : of_numbers(b, v, in);
}

sp_status sp__batch_trailing(sp_builder *b, const sp_batch *v)
{
    sp_tensor *in[SP_IN_MAX];
    for (int i = 0; i < v->n_in; i++) in[i] = sp__batch_fill(b, v, i, sp__batch_rank(v, 0));
    return sp__batch_apply(b, v, NULL, in);
}

/* Values of any shape in one sequence, or rows of values in rows of sequences. */
sp_status sp__batch_searchsorted(sp_builder *b, const sp_batch *v)
{
    sp_tensor *in[2] = {v->in[0], v->in[1]};
    if (!v->batched[0] && v->in[0]->rank == 1) return sp__batch_apply(b, v, NULL, in);
    SP_TRY(spread_all(b, v, in));
    if (sp__batch_rank(v, 0) > 1) return sp__batch_apply(b, v, NULL, in);
    int64_t dims[SP_RANK_MAX];
    const int rank = in[1]->rank;
    for (int k = 0; k < rank; k++) dims[k] = in[1]->dims[k];
    in[1] = sp_reshape(b, in[1], 2, (const int64_t[]){v->size, v->size ? in[1]->count / v->size : 0});
    SP_TRY(sp__batch_apply(b, v, NULL, in));
    v->out[0] = sp_reshape(b, v->out[0], rank, dims);
    return sp__builder_status(b);
}

/* --- shapes ------------------------------------------------------------------------------------------------------ */

/* v's operator with the slices in front of its attribute `name`. */
static sp_status with_size_first(sp_builder *b, const sp_batch *v, const char *name, sp_ints list, int64_t first,
                                 sp_tensor *x)
{
    int64_t dims[SP_RANK_MAX + 1] = {first};
    if (list.n < 0 || list.n >= SP_RANK_MAX) return SP_DECLINED;
    for (int i = 0; i < list.n; i++) dims[i + 1] = list.v[i];
    *(sp_ints *)sp__batch_field(v, name) = (sp_ints){list.n + 1, dims};
    return sp__batch_apply(b, v, v->own_attrs, &x);
}

sp_status sp__batch_reshape(sp_builder *b, const sp_batch *v)
{
    const sp_reshape_attrs *a = v->attrs;
    return with_size_first(b, v, "shape", a->shape, v->size, v->in[0]);
}

sp_status sp__batch_broadcast_to(sp_builder *b, const sp_batch *v)
{
    const sp_reshape_attrs *a = v->attrs;
    return with_size_first(b, v, "shape", a->shape, v->size, sp__batch_lift(b, v, 0, a->shape.n));
}

sp_status sp__batch_transpose(sp_builder *b, const sp_batch *v)
{
    const sp_transpose_attrs *a = v->attrs;
    const int rank = sp__batch_rank(v, 0);
    int64_t perm[SP_RANK_MAX] = {0};
    for (int i = 0; i < rank; i++) perm[i + 1] = a->perm.n < 0 ? rank - i : shifted(a->perm.v[i], rank);
    v->out[0] = sp_transpose(b, v->in[0], rank + 1, perm);
    return sp__builder_status(b);
}

/* in[i] without the ones that it has in front of `rank` dimensions: what is written may have more dimensions than its place. */
static sp_tensor *lowered(sp_builder *b, const sp_batch *v, int i, int rank)
{
    const int own = sp__batch_rank(v, i);
    int64_t dims[SP_RANK_MAX + 1] = {v->size};
    if (own <= rank) return sp__batch_lift(b, v, i, rank);
    for (int k = 0; k < rank; k++) dims[k + v->batched[i]] = sp__batch_dims(v, i)[k + own - rank];
    return sp_reshape(b, v->in[i], rank + v->batched[i], dims);
}

/* slice and slice_put: all of the slices, then what was asked of each. */
sp_status sp__batch_slice(sp_builder *b, const sp_batch *v)
{
    typedef struct {
        sp_ints start, stop, step;
    } slice_attrs;
    const slice_attrs *a = v->attrs;
    int64_t start[SP_RANK_MAX + 1] = {0}, stop[SP_RANK_MAX + 1] = {v->size}, step[SP_RANK_MAX + 1] = {1};
    const int n = a->start.n < 0 ? 0 : a->start.n;
    if (n >= SP_RANK_MAX || a->stop.n != a->start.n) return SP_DECLINED;
    for (int i = 0; i < n; i++) {
        start[i + 1] = a->start.v[i];
        stop[i + 1] = a->stop.v[i];
        step[i + 1] = i < a->step.n ? a->step.v[i] : 1;
    }
    const slice_attrs all = {{n + 1, start}, {n + 1, stop}, {n + 1, step}};
    sp_tensor *in[2] = {sp__batch_spread(b, v, 0), v->n_in > 1 ? lowered(b, v, 1, sp__batch_rank(v, 0)) : NULL};
    return sp__batch_apply(b, v, &all, in);
}

/* region_get and region_put: the slices are one more dimension of the region. */
sp_status sp__batch_region(sp_builder *b, const sp_batch *v)
{
    typedef struct {
        sp_ints dims, strides;
        int64_t offset;
    } region_attrs;
    const region_attrs *a = v->attrs;
    int64_t dims[SP_RANK_MAX + 1] = {v->size}, strides[SP_RANK_MAX + 1] = {v->in[0]->count};
    if (a->dims.n >= SP_RANK_MAX) return SP_DECLINED;
    if (v->batched[0]) strides[0] /= v->size;
    for (int i = 0; i < a->dims.n; i++) {
        dims[i + 1] = a->dims.v[i];
        strides[i + 1] = a->strides.v[i];
    }
    const region_attrs all = {{a->dims.n + 1, dims}, {a->dims.n + 1, strides}, a->offset};
    sp_tensor *in[2] = {sp__batch_spread(b, v, 0), v->n_in > 1 ? sp__batch_fill(b, v, 1, a->dims.n) : NULL};
    return sp__batch_apply(b, v, &all, in);
}

/* --- random numbers ---------------------------------------------------------------------------------------------- */

/* One draw for all slices from the first state: the others' numbers follow on it. */
sp_status sp__batch_random(sp_builder *b, const sp_batch *v)
{
    if (!v->drawn) return SP_DECLINED;
    sp_ints *shape = sp__batch_field(v, "shape");
    int64_t dims[SP_RANK_MAX + 1] = {v->size};
    if (!shape || shape->n < 0 || shape->n >= SP_RANK_MAX) return SP_DECLINED;
    for (int i = 0; i < shape->n; i++) dims[i + 1] = shape->v[i];
    const int rank = shape->n;
    *shape = (sp_ints){rank + 1, dims};
    sp_tensor *in[SP_IN_MAX] = {sp_reshape(b, sp__take_range(b, v->in[0], 0, 0, 1), 1, (const int64_t[]){2})};
    for (int i = 1; i < v->n_in; i++) in[i] = sp__batch_lift(b, v, i, rank);
    return sp__batch_apply(b, v, v->own_attrs, in);
}
