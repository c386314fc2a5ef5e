/* SPDX-License-Identifier: Apache-2.0 */
/* shard_layout.c - meshes, layouts, and the exchanges that bring a tensor from one layout to another.
 *
 * Redistribution takes the first step that is possible, until the layouts are equal: reduce-scatter what is partial and wanted split; all-reduce
 * the rest of it; exchange (all_to_all) what has only changed its axis; slice along mesh axes that are free; gather one axis. Slices of an axis
 * are ordered by mesh axis, so that an axis can only be split further by later ones: what is to be split by others is gathered first. */
#include <stdarg.h>
#include <stdio.h>

#include "base/plain.h"
#include "ops/ops_impl.h"
#include "parallel/shard.h"

/* --- meshes ------------------------------------------------------------------------------------------------------ */

sp_status sp__mesh_init(int ranks, int rank, sp_mesh *out)
{
    *out = (sp_mesh){.ranks = ranks, .rank = rank};
    int left = ranks;
    for (int p = 2; left > 1; p++)
        while (left % p == 0) {
            SP_CHECK(out->n < SP_MESH_MAX, SP_VALUE, "%d ranks have more than %d prime factors", ranks, SP_MESH_MAX);
            out->size[out->n++] = p;
            left /= p;
        }
    int stride = 1;
    for (int k = out->n - 1; k >= 0; k--) {
        out->stride[k] = stride;
        stride *= out->size[k];
    }
    return SP_OK;
}

bool sp__mesh_place(const sp_mesh *m, int n, const int64_t *grid, int *owner)
{
    for (int k = 0; k < SP_MESH_MAX; k++) owner[k] = -1;
    for (int d = n - 1; d >= 0; d--) {
        int64_t need = grid[d];
        if (need < 1) return false;
        for (int k = m->n - 1; k >= 0 && need > 1; k--)
            if (owner[k] < 0 && need % m->size[k] == 0) {
                owner[k] = d;
                need /= m->size[k];
            }
        if (need != 1) return false;
    }
    return true;
}

sp_status sp__mesh_group(const sp_mesh *m, unsigned axes, char name[48])
{
    if (axes == (1u << m->n) - 1 && m->ranks == sp_comm_size(sp_comm_world())) {
        snprintf(name, 48, "world_group");
        return SP_OK;
    }
    int n = 0, ranks[64], *list = ranks, size = 1;
    snprintf(name, 48, "shard_%d_%x_%d", m->ranks, axes, m->first);
    sp_comm *c;
    if (sp_comm_find(name, &c) == SP_OK) return SP_OK;
    for (int k = 0; k < m->n; k++)
        if (axes >> k & 1) size *= m->size[k];
    if (size > 64 && !(list = sp__alloc((size_t)size * sizeof *list))) return SP_NOMEM;
    for (int r = 0; r < m->ranks; r++) {
        bool together = true;
        for (int k = 0; k < m->n; k++)
            together &= axes >> k & 1 || r / m->stride[k] % m->size[k] == m->rank / m->stride[k] % m->size[k];
        if (together) list[n++] = m->first + r;
    }
    sp_status status = sp_comm_create(n, list, &c);
    if (status == SP_OK) {
        status = sp_comm_name(name, c);
        sp_comm_release(c);
    }
    if (list != ranks) sp__free(list);
    return status;
}

sp_status sp__mesh_comm(const sp_mesh *m, sp_comm **out)
{
    char name[48];
    SP_TRY(sp__mesh_group(m, (1u << m->n) - 1, name));
    return sp_comm_find(name, out);
}

/* --- layouts ----------------------------------------------------------------------------------------------------- */

sp_layout sp__layout_whole(void)
{
    sp_layout l = {.reduce = 0};
    memset(l.at, SP_AT_WHOLE, sizeof l.at);
    return l;
}

bool sp__layout_equal(const sp_layout *a, const sp_layout *b) { return memcmp(a->at, b->at, sizeof a->at) == 0; }

bool sp__layout_is_whole(const sp_layout *a)
{
    const sp_layout whole = sp__layout_whole();
    return sp__layout_equal(a, &whole);
}

int64_t sp__layout_parts(const sp_mesh *m, const sp_layout *l, int axis, int64_t *own)
{
    int64_t n = 1, at = 0;
    for (int k = 0; k < m->n; k++)
        if (l->at[k] == axis) {
            n *= m->size[k];
            at = at * m->size[k] + m->rank / m->stride[k] % m->size[k];
        }
    if (own) *own = at;
    return n;
}

void sp__layout_local(const sp_mesh *m, const sp_layout *l, const sp_meta *whole, sp_meta *local)
{
    *local = *whole;
    for (int i = 0; i < whole->rank; i++) local->dims[i] /= sp__layout_parts(m, l, i, NULL);
}

const char *sp__layout_text(const sp_mesh *m, const sp_layout *l, int rank, char buf[SP_SHAPE_TEXT])
{
    int64_t parts[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) parts[i] = sp__layout_parts(m, l, i, NULL);
    return sp__shape_text(rank, parts, buf);
}

/* --- one step ---------------------------------------------------------------------------------------------------- */

sp_status sp__reshard_apply(sp_reshard *r, const sp_op *op, sp_value **v, const char *format, ...)
{
    char text[512], room[SP_ATTRS_ROOM];
    va_list args;
    va_start(args, format);
    const int length = sp__vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SP_CHECK(length >= 0 && (size_t)length < sizeof text && op->attrs_bytes <= sizeof room, SP_RUNTIME,
             "%s: its attributes are too long", op->name);
    if (op->n_attrs) memcpy(room, op->defaults, op->attrs_bytes);
    sp_attr_text keep = {.n_blocks = 0};
    sp_node *n = NULL;
    sp_status status = op->n_attrs ? sp__attrs_parse(op, text, room, &keep) : SP_OK;
    if (status == SP_OK) status = sp__node_op(r->f, r->before, op, op->n_attrs ? room : NULL, 1, v, &n);
    sp__attr_text_free(&keep);
    if (status != SP_OK) return status;
    if (r->before && !n->place) n->place = r->before->place;
    if (op->collective) {
        int64_t bytes = (int64_t)sp_dtype_bytes((*v)->meta.dtype);
        for (int i = 0; i < (*v)->meta.rank; i++) bytes *= (*v)->meta.dims[i];
        r->n_collectives++;
        r->bytes += bytes;
    }
    *v = n->out[0];
    return SP_OK;
}

/* "(2, 3, 4)" with dims. */
static const char *tuple(int n, const int64_t *v, char *buf, size_t room)
{
    size_t at = 0;
    buf[at++] = '(';
    for (int i = 0; i < n && at + 24 < room; i++)
        at += (size_t)snprintf(buf + at, room - at, "%lld, ", (long long)v[i]);
    snprintf(buf + at, room - at, ")");
    return buf;
}

static sp_status reshape(sp_reshard *r, sp_value **v, int rank, const int64_t *dims)
{
    char text[256];
    return sp__reshard_apply(r, &sp_op_reshape, v, "shape=%s", tuple(rank, dims, text, sizeof text));
}

static sp_status transpose(sp_reshard *r, sp_value **v, int rank, const int64_t *perm)
{
    char text[256];
    return sp__reshard_apply(r, &sp_op_transpose, v, "perm=%s", tuple(rank, perm, text, sizeof text));
}

/* Axis `from` of `rank` becomes axis `to`. */
static sp_status move_axis(sp_reshard *r, sp_value **v, int rank, int from, int to)
{
    int64_t perm[SP_RANK_MAX + 1];
    int k = 0;
    if (from == to) return SP_OK;
    for (int i = 0; i < rank; i++) {
        if (k == from) k++;
        perm[i] = i == to ? from : k++;
    }
    return transpose(r, v, rank, perm);
}

/* What collectives do to the first axis, done to `axis`: slices of the ranks as an axis of their own, brought to the front or back. */
static sp_status gather_axis(sp_reshard *r, sp_value **v, int axis, int64_t parts, const char *group)
{
    const sp_meta before = (*v)->meta;
    int64_t dims[SP_RANK_MAX + 1] = {parts};
    SP_TRY(sp__reshard_apply(r, &sp_op_all_gather, v, "group=\"%s\"", group));
    if (axis == 0) return SP_OK;
    SP_CHECK(before.rank < SP_RANK_MAX, SP_VALUE, "a Tensor of rank %d cannot be gathered along axis %d", before.rank,
             axis);
    for (int i = 0; i < before.rank; i++) dims[i + 1] = before.dims[i];
    SP_TRY(reshape(r, v, before.rank + 1, dims));
    SP_TRY(move_axis(r, v, before.rank + 1, 0, axis));
    sp_meta after = before;
    after.dims[axis] *= parts;
    return reshape(r, v, after.rank, after.dims);
}

static sp_status scatter_axis(sp_reshard *r, sp_value **v, int axis, int64_t parts, const char *group, sp_reduce how)
{
    sp_meta after = (*v)->meta;
    int64_t dims[SP_RANK_MAX + 1];
    after.dims[axis] /= parts;
    if (axis > 0) {
        SP_CHECK(after.rank < SP_RANK_MAX, SP_VALUE, "a Tensor of rank %d cannot be scattered along axis %d",
                 after.rank, axis);
        for (int i = 0; i <= after.rank; i++)
            dims[i] = i < axis ? after.dims[i] : i == axis ? parts : after.dims[i - 1];
        SP_TRY(reshape(r, v, after.rank + 1, dims));
        SP_TRY(move_axis(r, v, after.rank + 1, axis, 0));
        dims[0] = parts * after.dims[0];
        for (int i = 1; i < after.rank; i++) dims[i] = after.dims[i];
        SP_TRY(reshape(r, v, after.rank, dims));
    }
    return sp__reshard_apply(r, &sp_op_reduce_scatter, v, "op=\"%s\", group=\"%s\"", sp_reduce_name(how), group);
}

/* Slices of `axis` go to their ranks, what comes is joined along `join`. */
static sp_status swap_axes(sp_reshard *r, sp_value **v, int axis, int join, int64_t parts, const char *group)
{
    sp_meta after = (*v)->meta;
    int64_t dims[SP_RANK_MAX + 1];
    SP_CHECK(after.rank < SP_RANK_MAX, SP_VALUE, "a Tensor of rank %d cannot be exchanged", after.rank);
    after.dims[axis] /= parts;
    for (int i = 0; i <= after.rank; i++) dims[i] = i < axis ? after.dims[i] : i == axis ? parts : after.dims[i - 1];
    SP_TRY(reshape(r, v, after.rank + 1, dims));
    SP_TRY(move_axis(r, v, after.rank + 1, axis, 0));
    SP_TRY(sp__reshard_apply(r, &sp_op_rank_exchange, v, "group=\"%s\"", group));
    SP_TRY(move_axis(r, v, after.rank + 1, 0, join));
    after.dims[join] *= parts;
    return reshape(r, v, after.rank, after.dims);
}

static sp_status slice_axis(sp_reshard *r, sp_value **v, int axis, int64_t parts, int64_t own)
{
    int64_t start[SP_RANK_MAX] = {0}, stop[SP_RANK_MAX];
    char from[256], to[256];
    for (int i = 0; i <= axis; i++) stop[i] = (*v)->meta.dims[i];
    const int64_t size = stop[axis] / parts;
    start[axis] = own * size;
    stop[axis] = start[axis] + size;
    return sp__reshard_apply(r, &sp_op_slice, v, "start=%s, stop=%s", tuple(axis + 1, start, from, sizeof from),
                             tuple(axis + 1, stop, to, sizeof to));
}

/* --- all steps --------------------------------------------------------------------------------------------------- */

/* Mesh axes that split an axis in `from`, and in `to`, as lists; and how many the two begin with in common. */
typedef struct splits {
    int n_from, n_to, common;
    int from[SP_MESH_MAX], to[SP_MESH_MAX];
} splits;

static splits splits_of(const sp_mesh *m, const sp_layout *from, const sp_layout *to, int axis)
{
    splits s = {0};
    for (int k = 0; k < m->n; k++) {
        if (from->at[k] == axis) s.from[s.n_from++] = k;
        if (to->at[k] == axis) s.to[s.n_to++] = k;
    }
    while (s.common < s.n_from && s.common < s.n_to && s.from[s.common] == s.to[s.common]) s.common++;
    return s;
}

typedef struct step {
    const sp_mesh *m;
    sp_reshard *r; /* NULL: costs alone */
    sp_meta local;
    sp_layout at;
    sp_value *v;
    double bytes; /* moved so far */
} step;

static double bytes_of(const sp_meta *m)
{
    double n = (double)sp_dtype_bytes(m->dtype);
    for (int i = 0; i < m->rank; i++) n *= (double)m->dims[i];
    return n;
}

static int64_t size_of(const sp_mesh *m, unsigned axes)
{
    int64_t n = 1;
    for (int k = 0; k < m->n; k++)
        if (axes >> k & 1) n *= m->size[k];
    return n;
}

static void set_at(step *s, unsigned axes, int at)
{
    for (int k = 0; k < s->m->n && k < SP_MESH_MAX; k++)
        if (axes >> k & 1) s->at.at[k] = (int8_t)at;
}

static unsigned partial_axes(const sp_mesh *m, const sp_layout *l)
{
    unsigned axes = 0;
    for (int k = 0; k < m->n; k++)
        if (l->at[k] == SP_AT_PARTIAL) axes |= 1u << k;
    return axes;
}

/* The run of mesh axes that `axis` is to be split by next and that are at `where` now; it has to be split by no others. */
static unsigned run_at(const step *s, const sp_layout *to, int axis, int where)
{
    const splits p = splits_of(s->m, &s->at, to, axis);
    unsigned axes = 0;
    if (p.common != p.n_from) return 0;
    for (int i = p.common; i < p.n_to && s->at.at[p.to[i]] == where; i++) axes |= 1u << p.to[i];
    return axes;
}

static sp_status reduce(step *s, const sp_layout *to, bool *done)
{
    unsigned partial = partial_axes(s->m, &s->at) & ~partial_axes(s->m, to);
    char group[48];
    *done = partial != 0;
    if (!partial) return SP_OK;
    for (int axis = 0; axis < s->local.rank; axis++) {
        const unsigned axes = run_at(s, to, axis, SP_AT_PARTIAL) & partial;
        if (!axes) continue;
        const int64_t parts = size_of(s->m, axes);
        s->bytes += bytes_of(&s->local) * (double)(parts - 1) / (double)parts;
        if (s->r) {
            SP_TRY(sp__mesh_group(s->m, axes, group));
            SP_TRY(scatter_axis(s->r, &s->v, axis, parts, group, (sp_reduce)s->at.reduce));
        }
        s->local.dims[axis] /= parts;
        set_at(s, axes, axis);
        return SP_OK;
    }
    const int64_t parts = size_of(s->m, partial);
    s->bytes += 2 * bytes_of(&s->local) * (double)(parts - 1) / (double)parts;
    if (s->r) {
        SP_TRY(sp__mesh_group(s->m, partial, group));
        SP_TRY(sp__reshard_apply(s->r, &sp_op_all_reduce, &s->v, "op=\"%s\", group=\"%s\"",
                                 sp_reduce_name((sp_reduce)s->at.reduce), group));
    }
    set_at(s, partial, SP_AT_WHOLE);
    return SP_OK;
}

/* An axis hands all its surplus mesh axes to another one. */
static sp_status exchange(step *s, const sp_layout *to, bool *done)
{
    char group[48];
    for (int from = 0; from < s->local.rank; from++) {
        const splits p = splits_of(s->m, &s->at, to, from);
        unsigned surplus = 0;
        for (int i = p.common; i < p.n_from; i++) surplus |= 1u << p.from[i];
        if (!surplus) continue;
        for (int axis = 0; axis < s->local.rank; axis++) {
            if (axis == from || run_at(s, to, axis, from) != surplus) continue;
            const int64_t parts = size_of(s->m, surplus);
            s->bytes += bytes_of(&s->local) * (double)(parts - 1) / (double)parts;
            if (s->r) {
                SP_TRY(sp__mesh_group(s->m, surplus, group));
                SP_TRY(swap_axes(s->r, &s->v, axis, from, parts, group));
            }
            s->local.dims[axis] /= parts;
            s->local.dims[from] *= parts;
            set_at(s, surplus, axis);
            *done = true;
            return SP_OK;
        }
    }
    return SP_OK;
}

static sp_status slice(step *s, const sp_layout *to, bool *done)
{
    for (int axis = 0; axis < s->local.rank; axis++) {
        const unsigned axes = run_at(s, to, axis, SP_AT_WHOLE);
        if (!axes) continue;
        const int64_t parts = size_of(s->m, axes);
        int64_t own = 0;
        for (int k = 0; k < s->m->n; k++)
            if (axes >> k & 1) own = own * s->m->size[k] + s->m->rank / s->m->stride[k] % s->m->size[k];
        if (s->r) SP_TRY(slice_axis(s->r, &s->v, axis, parts, own));
        s->local.dims[axis] /= parts;
        set_at(s, axes, axis);
        *done = true;
        return SP_OK;
    }
    return SP_OK;
}

static sp_status gather(step *s, const sp_layout *to, bool *done)
{
    char group[48];
    for (int axis = 0; axis < s->local.rank; axis++) {
        const splits p = splits_of(s->m, &s->at, to, axis);
        unsigned axes = 0;
        for (int i = p.common; i < p.n_from; i++) axes |= 1u << p.from[i];
        if (!axes) continue;
        const int64_t parts = size_of(s->m, axes);
        s->bytes += bytes_of(&s->local) * (double)(parts - 1);
        if (s->r) {
            SP_TRY(sp__mesh_group(s->m, axes, group));
            SP_TRY(gather_axis(s->r, &s->v, axis, parts, group));
        }
        s->local.dims[axis] *= parts;
        set_at(s, axes, SP_AT_WHOLE);
        *done = true;
        return SP_OK;
    }
    return SP_OK;
}

static sp_status walk(step *s, const sp_layout *to)
{
    bool done = true;
    while (done && !sp__layout_equal(&s->at, to)) {
        done = false;
        SP_TRY(reduce(s, to, &done));
        if (!done) SP_TRY(exchange(s, to, &done));
        if (!done) SP_TRY(slice(s, to, &done));
        if (!done) SP_TRY(gather(s, to, &done));
    }
    SP_CHECK(sp__layout_equal(&s->at, to), SP_RUNTIME, "a layout cannot be reached: this is a fault of the sharding");
    return SP_OK;
}

double sp__reshard_cost(const sp_mesh *m, const sp_meta *whole, sp_layout from, const sp_layout *to)
{
    step s = {.m = m, .at = from};
    sp__layout_local(m, &from, whole, &s.local);
    return walk(&s, to) == SP_OK ? s.bytes : 1e30;
}

sp_status sp__reshard(const sp_mesh *m, sp_reshard *r, const sp_meta *whole, sp_layout from, const sp_layout *to,
                      sp_value **v)
{
    step s = {.m = m, .r = r, .at = from, .v = *v};
    sp__layout_local(m, &from, whole, &s.local);
    SP_TRY(walk(&s, to));
    *v = s.v;
    return SP_OK;
}
