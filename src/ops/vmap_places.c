/* SPDX-License-Identifier: Apache-2.0 */
/* vmap_places.c - batching rules of operators that read and write at places given by tensors.
 *
 * The slices are one more place: where the indices differ from slice to slice, an index 0, 1, 2 ... along the slices goes with them.
 * The addressed axes are brought behind the slices first, and what they became is brought back afterwards, so that numpy's rule
 * for where new dimensions go has one case. */
#include "ops/kernels.h"

/* Which axes of a slice are addressed, in the order of the indices, and where the new dimensions belong. */
typedef struct places {
    int n; /* index tensors */
    int axes[SP_RANK_MAX];
    int rank;       /* of a slice of x */
    int place;      /* of the new dimensions in a slice of the result */
    int index_rank; /* of the indices broadcast together */
    bool batched;   /* some index differs from slice to slice */
} places;

static sp_status find_places(const sp_batch *v, int first, sp_ints axes, places *p)
{
    *p = (places){.n = v->n_in - first, .rank = sp__batch_rank(v, 0)};
    if (p->n < 1 || p->n > p->rank || p->n >= SP_IN_MAX - 3) return SP_DECLINED;
    uint32_t mask = 0;
    for (int k = 0; k < p->n; k++) {
        p->axes[k] = k;
        if (axes.n >= 0) SP_TRY(sp__shape_axis(axes.v[k], p->rank, "axis", &p->axes[k]));
        mask |= 1u << p->axes[k];
        const int rank = sp__batch_rank(v, first + k);
        if (rank > p->index_rank) p->index_rank = rank;
        p->batched |= v->batched[first + k];
    }
    const int low = __builtin_ctz(mask), high = 31 - __builtin_clz(mask);
    p->place = high - low + 1 == p->n ? low : 0;
    return SP_OK;
}

/* [size, ...] with the addressed axes right behind the slices, in the order of the indices. */
static sp_tensor *axes_first(sp_builder *b, const places *p, sp_tensor *x)
{
    int64_t perm[SP_RANK_MAX] = {0};
    int n = 1;
    for (int k = 0; k < p->n; k++) perm[n++] = p->axes[k] + 1;
    for (int i = 0; i < p->rank; i++) {
        bool taken = false;
        for (int k = 0; k < p->n; k++) taken |= p->axes[k] == i;
        if (!taken) perm[n++] = i + 1;
    }
    return sp_transpose(b, x, n, perm);
}

static sp_tensor *axes_back(sp_builder *b, const places *p, sp_tensor *x)
{
    int64_t perm[SP_RANK_MAX] = {0};
    int next = p->n + 1;
    for (int i = 0; i < p->rank; i++) {
        int at = -1;
        for (int k = 0; k < p->n; k++)
            if (p->axes[k] == i) at = k + 1;
        perm[i + 1] = at > 0 ? at : next++;
    }
    return sp_transpose(b, x, p->rank + 1, perm);
}

/* [size, new dimensions, others] with the new ones where they belong; and the other way round. */
static sp_tensor *place_new(sp_builder *b, const places *p, sp_tensor *x, bool forth)
{
    int64_t perm[SP_RANK_MAX] = {0};
    if (!x) return NULL;
    for (int i = 1; i < x->rank; i++) {
        const int before = forth ? i <= p->place : i <= p->index_rank; /* comes from behind the others */
        const int after = forth ? i > p->place + p->index_rank : i > p->index_rank + p->place;
        if (after) perm[i] = i;
        else if (before) perm[i] = forth ? i + p->index_rank : i + p->place;
        else perm[i] = forth ? i - p->place : i - p->index_rank;
    }
    return sp_transpose(b, x, x->rank, perm);
}

/* The indices for x with its addressed axes in front; an index of the slices among them when they differ. Their axes go to `axes`. */
static int make_indices(sp_builder *b, const sp_batch *v, const places *p, int first, sp_tensor **indices,
                        int64_t *axes)
{
    int n = 0;
    if (p->batched) {
        axes[n] = 0;
        indices[n++] = sp__positions(b, p->index_rank + 1, 0, v->size);
    }
    for (int k = 0; k < p->n; k++) {
        axes[n] = k + 1;
        indices[n++] = sp__batch_lift(b, v, first + k, p->index_rank);
    }
    return n;
}

sp_status sp__batch_index(sp_builder *b, const sp_batch *v)
{
    const sp_index_attrs *a = v->attrs;
    places p;
    SP_TRY(find_places(v, 1, a->axes, &p));
    sp_tensor *in[SP_IN_MAX];
    int64_t axes[SP_IN_MAX];
    if (p.rank >= SP_RANK_MAX) return SP_DECLINED;
    if (!v->batched[0]) { /* the slices are dimensions of the indices */
        in[0] = v->in[0];
        for (int k = 0; k < p.n; k++) in[k + 1] = sp__batch_lift(b, v, k + 1, p.index_rank);
        SP_TRY(sp__batch_apply(b, v, NULL, in));
        v->out[0] = sp__batch_move(b, v->out[0], p.place, 0);
        return sp__builder_status(b);
    }
    in[0] = axes_first(b, &p, v->in[0]);
    const int n = make_indices(b, v, &p, 1, in + 1, axes);
    SP_TRY(sp__builder_status(b));
    const sp_index_attrs all = {{n, axes}};
    v->out[0] = place_new(b, &p, sp_builder_apply(b, v->op, &all, n + 1, in), true);
    return sp__builder_status(b);
}

/* index_put and index_combine. */
sp_status sp__batch_index_put(sp_builder *b, const sp_batch *v)
{
    sp_ints *attr_axes = sp__batch_field(v, "axes");
    places p;
    SP_TRY(find_places(v, 2, *attr_axes, &p));
    sp_tensor *in[SP_IN_MAX];
    int64_t axes[SP_IN_MAX];
    const int rank = p.rank - p.n + p.index_rank; /* of what is written to a slice */
    if (p.rank >= SP_RANK_MAX || rank >= SP_RANK_MAX || sp__batch_rank(v, 1) > rank) return SP_DECLINED;
    in[0] = axes_first(b, &p, sp__batch_spread(b, v, 0));
    in[1] = place_new(b, &p, sp__batch_fill(b, v, 1, rank), false);
    const int n = make_indices(b, v, &p, 2, in + 2, axes);
    *attr_axes = (sp_ints){n, axes};
    if (v->op->writes) in[0] = SP_APPLY1(b, sp_op_copy, in[0]); /* not a view of what others may use */
    SP_TRY(sp__builder_status(b));
    v->out[0] = axes_back(b, &p, sp_builder_apply(b, v->op, v->own_attrs, n + 2, in));
    return sp__builder_status(b);
}

/* Values of the slices' own are chosen between afterwards. */
sp_status sp__batch_one_hot(sp_builder *b, const sp_batch *v)
{
    typedef struct {
        int64_t depth, axis;
    } one_hot_attrs;
    one_hot_attrs a = *(const one_hot_attrs *)v->attrs;
    if (a.axis >= 0 && v->batched[0]) a.axis++;
    if (!v->batched[1] && !v->batched[2]) return sp__batch_apply(b, v, &a, v->in);
    sp_tensor *yes = sp__full(b, 1, SP_DTYPE_BOOL, 0, NULL), *no = sp__full(b, 0, SP_DTYPE_BOOL, 0, NULL);
    sp_tensor *hot = sp_builder_apply(b, v->op, &a, 3, (sp_tensor *const[]){v->in[0], yes, no});
    const int rank = sp__batch_rank(v, 0) + 1;
    v->out[0] = sp_select(b, hot, sp__batch_lift(b, v, 1, rank), sp__batch_lift(b, v, 2, rank));
    return sp__builder_status(b);
}
