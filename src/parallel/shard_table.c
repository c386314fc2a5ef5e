/* SPDX-License-Identifier: Apache-2.0 */
/* shard_table.c - tensors of which each rank has a slice, and the operator that asks for a layout.
 *
 * Such a tensor is a handle over the slice. What it is as a whole is kept here, found by the handle: recordings meet the whole shape
 * (sp__whole_meta_hook), everything else meets the slice. */
#include <math.h>

#include "base/handle.h"
#include "ops/ops_impl.h"
#include "parallel/shard.h"
#include "spore/ops_attrs.h"

/* --- the table --------------------------------------------------------------------------------------------------- */

typedef struct entry {
    struct entry *next;
    const sp_tensor *t;
    bool known; /* split is there */
    sp_mesh_split split;
    int home, stages;       /* the stage of a pipeline that has the contents, of so many; 0 stages: all ranks */
    bool elsewhere;         /* this rank has given its memory back */
    const sp_tensor *owner; /* spread as this one is, and further: sp_tensor_spread; NULL: it is not to be spread */
    int parts;
    int n_grid; /* sp_tensor_set_grid; 0: it was not called */
    int64_t grid[SP_GRID_MAX];
    int64_t grid_axes[SP_GRID_MAX];
} entry;

enum { BUCKETS = 256 };
static entry *buckets[BUCKETS];
static sp_lock table_lock = SP_LOCK_INIT;

static entry **bucket_of(const sp_tensor *t) { return &buckets[((uintptr_t)t >> 6) % BUCKETS]; }

/* Under the lock. */
static entry *find(const sp_tensor *t)
{
    entry *e = *bucket_of(t);
    while (e && e->t != t) e = e->next;
    return e;
}

bool sp__split_find(const sp_tensor *t, sp_mesh_split *out)
{
    if (!(t->flags & SP_TENSOR_SPLIT)) return false;
    sp__lock(&table_lock);
    const entry *e = find(t);
    const bool known = e && e->known;
    if (known) *out = e->split;
    sp__unlock(&table_lock);
    return known;
}

bool sp__spread_find(const sp_tensor *t, const sp_tensor **owner, int *parts)
{
    if (!(t->flags & SP_TENSOR_SPLIT)) return false;
    sp__lock(&table_lock);
    const entry *e = find(t);
    const bool found = e && e->owner;
    if (found) {
        *owner = e->owner;
        *parts = e->parts;
    }
    sp__unlock(&table_lock);
    return found;
}

static void forget(const sp_tensor *t)
{
    sp__lock(&table_lock);
    entry **at = bucket_of(t), *e;
    while (*at && (*at)->t != t) at = &(*at)->next;
    e = *at;
    if (e) *at = e->next;
    sp__unlock(&table_lock);
    sp__free(e);
}

static void whole_meta(const sp_tensor *t, sp_meta *m)
{
    sp_mesh_split split;
    if (!sp__split_find(t, &split)) return;
    m->rank = split.whole.rank;
    memcpy(m->dims, split.whole.dims, sizeof m->dims);
}

/* The entry of a handle, made when new; split and owner may be NULL: they stay what they are. So does the grid when n_grid is 0. */
static sp_status note_all(sp_tensor *t, const sp_mesh_split *split, const sp_tensor *owner, int parts, int n_grid,
                          const int64_t *grid, const int64_t *axes)
{
    entry *fresh = sp__alloc_zero(sizeof *fresh);
    if (!fresh) return SP_NOMEM;
    sp__lock(&table_lock);
    sp__split_forget_hook = forget;
    sp__whole_meta_hook = whole_meta;
    entry *e = t->flags & SP_TENSOR_SPLIT ? find(t) : NULL;
    if (!e) {
        e = fresh;
        fresh = NULL;
        e->t = t;
        e->next = *bucket_of(t);
        *bucket_of(t) = e;
        t->flags |= SP_TENSOR_SPLIT;
    }
    if (split) {
        e->split = *split;
        e->known = true;
    }
    if (owner) {
        e->owner = owner;
        e->parts = parts;
    }
    for (int i = 0; i < n_grid; i++) {
        e->grid[i] = grid[i];
        e->grid_axes[i] = axes[i];
    }
    if (n_grid) e->n_grid = n_grid;
    sp__unlock(&table_lock);
    sp__free(fresh);
    return SP_OK;
}

static sp_status note(sp_tensor *t, const sp_mesh_split *split, const sp_tensor *owner, int parts)
{
    return note_all(t, split, owner, parts, 0, NULL, NULL);
}

sp_status sp_tensor_set_grid(sp_tensor *t, int n, const int64_t *sizes, const int64_t *axes)
{
    SP_CHECK(t && sizes && axes && n > 0 && n <= SP_GRID_MAX, SP_VALUE,
             "sp_tensor_set_grid: a tensor and a grid of 1 to %d dimensions are wanted, but got %d", SP_GRID_MAX, n);
    for (int i = 0; i < n; i++)
        SP_CHECK(sizes[i] > 0 && axes[i] >= -1 && axes[i] < t->rank, SP_VALUE,
                 "sp_tensor_set_grid: dimension %d has %lld ranks and splits axis %lld of a tensor of rank %d", i,
                 (long long)sizes[i], (long long)axes[i], t->rank);
    return note_all(t, NULL, NULL, 0, n, sizes, axes);
}

bool sp__grid_find(const sp_tensor *t, int *n, int64_t sizes[SP_GRID_MAX], int64_t axes[SP_GRID_MAX])
{
    *n = 0;
    if (!(t->flags & SP_TENSOR_SPLIT)) return false;
    sp__lock(&table_lock);
    const entry *e = find(t);
    if (e) *n = e->n_grid;
    for (int i = 0; i < *n; i++) {
        sizes[i] = e->grid[i];
        axes[i] = e->grid_axes[i];
    }
    sp__unlock(&table_lock);
    return *n > 0;
}

sp_status sp_tensor_spread(sp_tensor *t, const sp_tensor *owner, int parts)
{
    SP_CHECK(
        t && owner && parts >= -1 && parts != 0, SP_VALUE,
        "sp_tensor_spread: a tensor, its Parameter and a number of parts (-1: all ranks) are wanted, but got %d parts",
        parts);
    return note(t, NULL, owner, parts);
}

sp_status sp_tensor_mark_slice(sp_tensor *t, int parts)
{
    sp_comm *world = sp_comm_world();
    const int ranks = sp_comm_size(world);
    SP_CHECK(t && t->rank > 0 && parts > 0 && ranks % parts == 0, SP_VALUE,
             "sp_tensor_mark_slice: %d parts of %d ranks", parts, ranks);
    sp_mesh_split split = {.layout = sp__layout_whole()};
    const int64_t grid[2] = {ranks / parts, parts};
    int owner[SP_MESH_MAX];
    SP_TRY(sp__mesh_init(ranks, sp_comm_rank(world), &split.mesh));
    SP_CHECK(sp__mesh_place(&split.mesh, 2, grid, owner), SP_VALUE, "sp_tensor_mark_slice: %d parts of %d ranks", parts,
             ranks);
    for (int k = 0; k < split.mesh.n; k++)
        if (owner[k] == 1) split.layout.at[k] = 0;
    sp__meta_of(t, &split.whole);
    split.whole.dims[0] *= parts;
    split.base = split.layout;
    return note(t, &split, NULL, 0);
}

/* --- slices and wholes ------------------------------------------------------------------------------------------- */

static sp_status own_slice(const sp_tensor *whole, const sp_mesh *m, const sp_layout *l, sp_tensor **out)
{
    int64_t dims[SP_RANK_MAX], own;
    int64_t offset = 0;
    sp_tensor *view;
    for (int i = 0; i < whole->rank; i++) {
        const int64_t parts = sp__layout_parts(m, l, i, &own);
        dims[i] = whole->dims[i] / parts;
        offset += own * dims[i] * whole->strides[i];
    }
    SP_TRY(sp__tensor_handle((sp_dtype)whole->dtype, whole->rank, dims, whole->strides, whole->storage,
                             whole->data + offset * (int64_t)sp_dtype_bytes((sp_dtype)whole->dtype), &view));
    sp_builder b;
    sp__builder_init(&b);
    sp_tensor *copy = sp_builder_apply(&b, &sp_op_copy, NULL, 1, &view);
    *out = copy ? sp_tensor_retain(copy) : NULL;
    const sp_status status = sp__builder_status(&b);
    sp__builder_done(&b);
    sp_tensor_release(view);
    return status;
}

sp_status sp__split_make(sp_tensor *t, const sp_mesh *m, const sp_layout *l, const sp_layout *base)
{
    sp_mesh_split split = {.mesh = *m, .layout = *l, .base = *base};
    sp_tensor *row = NULL, *slice = NULL;
    sp_status status;
    sp__meta_of(t, &split.whole);
    SP_GOTO(done, sp_tensor_contiguous(t, &row));
    SP_GOTO(done, sp_comm_run(sp_comm_world(), &(sp_exchange){.kind = SP_EXCHANGE_BROADCAST,
                                                              .dtype = (sp_dtype)row->dtype,
                                                              .n = row->count,
                                                              .in = row->data,
                                                              .out = row->data,
                                                              .where = "a Parameter"}));
    if (row->storage) sp__tensor_wrote(row);
    if (!sp__layout_is_whole(l)) {
        SP_GOTO(done, own_slice(row, m, l, &slice));
        sp__tensor_rebind(t, slice);
    } else if (row->storage != t->storage) {
        sp__tensor_rebind(t, row);
    }
    status = note(t, &split, NULL, 0);
done:
    sp_tensor_release(slice);
    sp_tensor_release(row);
    return status;
}

/* One value in the place of all: nothing that is read here by mistake looks like a weight. */
static sp_status give_back(sp_tensor *t)
{
    const int64_t none[SP_RANK_MAX] = {0}, one = 1;
    sp_tensor *value = NULL, *all = NULL;
    sp_status status;
    SP_GOTO(done, sp_tensor_create_zeros((sp_dtype)t->dtype, 1, &one, &value));
    if (SP_DT_FLOATS >> t->dtype & 1) {
        const double nan = NAN;
        char *ptr[2] = {value->data, (char *)(uintptr_t)&nan};
        const int64_t step[2] = {0, 0};
        sp__cast_loop(SP_DTYPE_F64, (sp_dtype)t->dtype)(1, ptr, step, NULL);
    }
    SP_GOTO(done, sp__tensor_handle((sp_dtype)t->dtype, t->rank, t->dims, none, value->storage, value->data, &all));
    sp__tensor_rebind(t, all);
done:
    sp_tensor_release(value);
    sp_tensor_release(all);
    return status;
}

sp_status sp__split_home(sp_tensor *t, int stage, int stages, bool kept)
{
    sp__lock(&table_lock);
    entry *e = t->flags & SP_TENSOR_SPLIT ? find(t) : NULL;
    const bool fresh = e && !e->stages;
    if (fresh) {
        e->home = stage;
        e->stages = stages;
        e->elsewhere = !kept;
    }
    sp__unlock(&table_lock);
    return fresh && !kept ? give_back(t) : SP_OK;
}

bool sp_tensor_is_elsewhere(const sp_tensor *t)
{
    if (!t) return false;
    if (!(t->flags & SP_TENSOR_SPLIT)) return false;
    sp__lock(&table_lock);
    const entry *e = find(t);
    const bool elsewhere = e && e->elsewhere;
    sp__unlock(&table_lock);
    return elsewhere;
}

static bool find_home(const sp_tensor *t, int *home, int *stages)
{
    sp__lock(&table_lock);
    const entry *e = find(t);
    const bool found = e && e->stages > 1;
    if (found) {
        *home = e->home;
        *stages = e->stages;
    }
    sp__unlock(&table_lock);
    return found;
}

bool sp_tensor_is_split(const sp_tensor *t, sp_spec *whole)
{
    if (!t) return false;
    sp_mesh_split split;
    int home, stages;
    if (!sp__split_find(t, &split)) return false;
    if (sp__layout_is_whole(&split.layout) && !find_home(t, &home, &stages)) return false;
    if (whole) *whole = split.whole;
    return true;
}

bool sp_tensor_splits(const sp_tensor *t, int64_t splits[SP_RANK_MAX])
{
    if (!t) return false;
    sp_mesh_split split;
    if (!sp__split_find(t, &split)) return false;
    for (int i = 0; i < split.whole.rank; i++) splits[i] = sp__layout_parts(&split.mesh, &split.layout, i, NULL);
    return true;
}

int sp_tensor_grid(const sp_tensor *t, int64_t sizes[SP_GRID_MAX], int64_t axes[SP_GRID_MAX])
{
    if (!t) return 0;
    sp_mesh_split split;
    int n = 0;
    if (!sp__split_find(t, &split)) return 0;
    for (int k = 0; k < split.mesh.n; k++) {
        const int64_t axis = split.layout.at[k] < 0 ? -1 : split.layout.at[k];
        if (n && axes[n - 1] == axis) {
            sizes[n - 1] *= split.mesh.size[k];
            continue;
        }
        sizes[n] = split.mesh.size[k];
        axes[n++] = axis;
    }
    return n;
}

sp_status sp_tensor_slice_like(const sp_tensor *whole, const sp_tensor *like, sp_tensor **out)
{
    SP_HANDLE(whole);
    SP_HANDLE(like);
    sp_mesh_split split;
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    SP_CHECK(sp__split_find(like, &split), SP_VALUE, "the tensor is not split over ranks");
    SP_CHECK(sp__shape_equal(whole->rank, whole->dims, split.whole.rank, split.whole.dims), SP_VALUE,
             "a tensor of shape %s cannot be split like one of shape %s", sp__shape_text(whole->rank, whole->dims, a),
             sp__shape_text(split.whole.rank, split.whole.dims, b));
    return own_slice(whole, &split.mesh, &split.layout, out);
}

/* Slices of all ranks are put where they belong; what several ranks have is written by each of them. */
static sp_status join_slices(sp_tensor *t, sp_tensor **out)
{
    sp_mesh_split split;
    sp_tensor *row = NULL, *all = NULL, *whole = NULL;
    sp_status status;
    SP_CHECK(sp__split_find(t, &split), SP_VALUE, "the tensor is not split over ranks");
    const sp_mesh *m = &split.mesh;
    SP_GOTO(done, sp_tensor_contiguous(t, &row));
    const int64_t n = row->count, everything = n * m->ranks;
    SP_GOTO(done, sp_tensor_create((sp_dtype)t->dtype, 1, &everything, &all));
    sp_comm *group;
    SP_GOTO(done, sp__mesh_comm(m, &group));
    SP_GOTO(done, sp_comm_run(group, &(sp_exchange){.kind = SP_EXCHANGE_ALL_GATHER,
                                                    .dtype = (sp_dtype)t->dtype,
                                                    .n = n,
                                                    .in = row->data,
                                                    .out = all->data,
                                                    .where = "a Parameter as a whole"}));
    SP_GOTO(done, sp_tensor_create((sp_dtype)t->dtype, split.whole.rank, split.whole.dims, &whole));
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)t->dtype);
    const int rank = row->rank;
    const int64_t run = rank ? row->dims[rank - 1] : 1, n_runs = run ? n / run : 0;
    for (int r = 0; r < m->ranks; r++) {
        sp_mesh of = *m;
        int64_t own[SP_RANK_MAX];
        of.rank = r;
        for (int i = 0; i < rank; i++) sp__layout_parts(&of, &split.layout, i, &own[i]);
        for (int64_t k = 0; k < n_runs; k++) {
            int64_t left = k, at = rank ? own[rank - 1] * run : 0;
            for (int i = rank - 2; i >= 0; i--) {
                at += (own[i] * row->dims[i] + left % row->dims[i]) * whole->strides[i];
                left /= row->dims[i];
            }
            memcpy(whole->data + at * bytes, all->data + (r * n + k * run) * bytes, (size_t)(run * bytes));
        }
    }
    *out = whole;
    whole = NULL;
done:
    sp_tensor_release(row);
    sp_tensor_release(all);
    sp_tensor_release(whole);
    return status;
}

sp_status sp_tensor_whole(sp_tensor *t, sp_tensor **out)
{
    SP_HANDLE(t);
    int home, stages;
    if (!(t->flags & SP_TENSOR_SPLIT) || !find_home(t, &home, &stages)) return join_slices(t, out);
    sp_comm *world = sp_comm_world();
    const int row = sp_comm_size(world) / stages;
    sp_mesh_split split;
    sp_tensor *whole = NULL;
    SP_CHECK(sp__split_find(t, &split), SP_VALUE, "the tensor is not split over ranks");
    if (sp_comm_rank(world) / row == home) SP_TRY(join_slices(t, &whole));
    else SP_TRY(sp_tensor_create((sp_dtype)t->dtype, split.whole.rank, split.whole.dims, &whole));
    const sp_status status = sp_comm_run(world, &(sp_exchange){.kind = SP_EXCHANGE_BROADCAST,
                                                               .dtype = (sp_dtype)whole->dtype,
                                                               .n = whole->count,
                                                               .in = whole->data,
                                                               .out = whole->data,
                                                               .root = home * row,
                                                               .where = "a Parameter of a pipeline stage"});
    if (status == SP_OK) *out = whole;
    else sp_tensor_release(whole);
    return status;
}

/* --- the operator ------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(shard_attr_table, sp_shard_attrs, (TEXT, of, ""), (INTS_EMPTY, splits), (INTS_EMPTY, matrix),
              (INTS_EMPTY, axes), (INT, call, 0), (INT, operand, 0), (BOOL, gradient, False));

static sp_status shard_view(const sp_call *c) { return sp__tensor_alias(c->in[0], &c->out[0]); }

static sp_status shard_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_shard_attrs a = *(const sp_shard_attrs *)v->attrs;
    a.gradient = true;
    v->din[0] = sp_builder_apply(b, &sp_op_shard, &a, 1, v->dout);
    return sp__builder_status(b);
}

const sp_op sp_op_shard = {
    .name = "shard",
    .inputs = "x",
    SP_ATTRS(shard_attr_table, sp_shard_attrs),
    .infer = sp__infer_same,
    .view = shard_view,
    .vjp = shard_vjp,
    .batch = sp__batch_elementwise,
    .doc =
        "The same tensor. A program that is split over ranks has it in slices here: `splits` of each axis, or as the "
        "dimensions of a grid of ranks (`matrix`) split the `axes`.",
    .samples = "[2,3] splits=(2,1); [4]",
};
