/* SPDX-License-Identifier: Apache-2.0 */
/* plan_fuse.c - element-wise steps as one: block by block, each block through all of them while it is in cache.
 *
 * The inner loops are those of the operators' own kernels, called for a block at a time, so that results are the same bit for
 * bit. Memory that only these steps touch becomes a buffer of one block on the stack of whoever runs the block: a chain of
 * ten operators reads and writes what it starts from and ends in, nothing else.
 *
 * Steps join a group while
 *   - they run over the same elements;
 *   - memory that one of them writes is seen by all of them in the same way (else a block would see others' elements);
 *   - the dimensions of all operands together can be walked in runs long enough to pay for the calls.
 * A step that uses what the group makes is moved up to it if nothing in between depends on either. */
#include "graph/fused.h"

enum {
    RUN_LEAST = 48, /* elements in a run, unless there is one run only */
    LOOK_AHEAD = 24 /* steps */
};

/* --- finding groups ---------------------------------------------------------------------------------------------- */

/* A handle as an operand of the group. */
typedef struct {
    int handle;
    bool written;
} operand;

typedef struct {
    sp_plan *p;
    const int *users; /* by root: steps that touch it; NULL: all memory stays memory */
    int first, n;     /* steps */
    operand operands[SP_FUSED_OPERANDS];
    int n_operands;
} group;

static const sp_tensor *shape_of(const sp_plan *p, int handle) { return &p->handles[handle].shape; }

bool sp__step_fusible(const sp_plan *p, const sp_step *s)
{
    if (!s->loop.fn || s->n_in + s->n_out > SP_LOOP_MAX || s->n_out < 1) return false;
    const sp_tensor *o = shape_of(p, s->handles[s->n_in]);
    if (o->count == 0) return false;
    for (int i = 0; i < s->n_in + s->n_out; i++)
        if (s->handles[i] < 0) return false;
    for (int i = s->n_in; i < s->n_in + s->n_out; i++)
        if (!sp__tensor_same_shape(o, shape_of(p, s->handles[i]))) return false;
    return true;
}

static bool same_view(const sp_handle *a, const sp_handle *b)
{
    return a->root == b->root && a->offset == b->offset && sp__tensor_same_shape(&a->shape, &b->shape) &&
           sp_dtype_bytes((sp_dtype)a->shape.dtype) == sp_dtype_bytes((sp_dtype)b->shape.dtype) &&
           memcmp(a->shape.strides, b->shape.strides, (size_t)a->shape.rank * sizeof(int64_t)) == 0;
}

static bool touches(const sp_plan *p, const sp_step *s, int root)
{
    for (int k = 0; k < sp__step_handles(s); k++)
        if (sp__step_root(p, s, k) == root) return true;
    return false;
}

/* Add the step's operands; false: it does not belong here. Handles that show the same are one operand. */
static bool add_operands(group *g, const sp_step *s)
{
    for (int i = 0; i < s->n_in + s->n_out; i++) {
        const sp_handle *h = &g->p->handles[s->handles[i]];
        const bool written = i >= s->n_in;
        int found = -1;
        for (int k = 0; k < g->n_operands; k++) {
            const sp_handle *other = &g->p->handles[g->operands[k].handle];
            if (other->root != h->root) continue;
            if (same_view(h, other)) found = k;
            else if (written || g->operands[k].written) return false;
        }
        if (found < 0) {
            if (g->n_operands == SP_FUSED_OPERANDS) return false;
            found = g->n_operands++;
            g->operands[found] = (operand){.handle = s->handles[i]};
        }
        g->operands[found].written |= written;
    }
    return true;
}

/* Steps of a handle over the dimensions of the group, in bytes; 0 where it is broadcast. */
static void steps_of(const sp_tensor *t, int rank, int64_t *steps)
{
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)t->dtype);
    const int lead = rank - t->rank;
    for (int i = 0; i < rank; i++) steps[i] = i < lead || t->dims[i - lead] == 1 ? 0 : t->strides[i - lead] * size;
}

/* The dimensions of all operands, merged where all walk two as one. */
static int merge(const group *g, int64_t *dims, int64_t (*steps)[SP_RANK_MAX])
{
    const sp_step *s = &g->p->steps[g->first];
    const sp_tensor *o = shape_of(g->p, s->handles[s->n_in]);
    int64_t all[SP_FUSED_OPERANDS][SP_RANK_MAX];
    for (int k = 0; k < g->n_operands; k++) steps_of(shape_of(g->p, g->operands[k].handle), o->rank, all[k]);
    int r = 0;
    for (int i = 0; i < o->rank; i++) {
        if (o->dims[i] == 1) continue;
        bool one = r > 0;
        for (int k = 0; one && k < g->n_operands; k++) one = steps[k][r - 1] == o->dims[i] * all[k][i];
        if (!one) r++;
        dims[r - 1] = one ? dims[r - 1] * o->dims[i] : o->dims[i];
        for (int k = 0; k < g->n_operands; k++) steps[k][r - 1] = all[k][i];
    }
    if (r) return r;
    dims[0] = 1;
    for (int k = 0; k < g->n_operands; k++) steps[k][0] = 0;
    return 1;
}

static bool join(group *g, const sp_step *s)
{
    if (g->n == SP_FUSED_PARTS) return false;
    if (g->n) {
        const sp_step *head = &g->p->steps[g->first];
        if (!sp__tensor_same_shape(shape_of(g->p, head->handles[head->n_in]), shape_of(g->p, s->handles[s->n_in])))
            return false;
    }
    group with = *g;
    if (!add_operands(&with, s)) return false;
    int64_t dims[SP_RANK_MAX], steps[SP_FUSED_OPERANDS][SP_RANK_MAX];
    int rank = merge(&with, dims, steps);
    if (rank > 1 && dims[rank - 1] < RUN_LEAST) return false;
    *g = with;
    g->n++;
    return true;
}

/* --- making a fused step ----------------------------------------------------------------------------------------- */

static void *take(sp_plan *p, size_t n, size_t size) { return sp__arena_alloc(&p->arena, (n ? n : 1) * size); }

/* Memory of the arena that no other step touches. */
static bool is_inside(const group *g, const operand *o)
{
    const int root = g->p->handles[o->handle].root;
    int n = 0;
    if (!g->users) return false;
    for (int i = 0; i < g->n; i++) n += touches(g->p, &g->p->steps[g->first + i], root);
    return g->p->roots[root].kind == SP_ROOT_ARENA && n == g->users[root];
}

/* Buffers for what is inside: one is free again after the part that touches it last, for elements of the same size. */
static int assign_buffers(const group *g, int *number, int64_t *size)
{
    bool busy[SP_FUSED_OPERANDS] = {false};
    int last[SP_FUSED_OPERANDS], most = 0;
    for (int k = 0; k < g->n_operands; k++) last[k] = -1;
    for (int i = 0; i < g->n; i++) {
        const sp_step *s = &g->p->steps[g->first + i];
        for (int j = 0; j < s->n_in + s->n_out; j++)
            for (int k = 0; k < g->n_operands; k++)
                if (same_view(&g->p->handles[g->operands[k].handle], &g->p->handles[s->handles[j]])) last[k] = i;
    }
    for (int i = 0; i < g->n; i++) {
        const sp_step *s = &g->p->steps[g->first + i];
        for (int j = s->n_in; j < s->n_in + s->n_out; j++)
            for (int k = 0; k < g->n_operands; k++) {
                if (number[k] != -2 || !same_view(&g->p->handles[g->operands[k].handle], &g->p->handles[s->handles[j]]))
                    continue;
                const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)shape_of(g->p, g->operands[k].handle)->dtype);
                int b = 0;
                while (b < most && (busy[b] || size[b] != bytes)) b++;
                busy[b] = true;
                size[b] = bytes;
                number[k] = b;
                if (b + 1 > most) most = b + 1;
            }
        for (int k = 0; k < g->n_operands; k++)
            if (number[k] >= 0 && last[k] == i) busy[number[k]] = false;
    }
    return most;
}

/* Operands in memory are numbered as the step has them: first what is read only, then what is written. */
static void number_operands(const group *g, sp_fused *f, const int *number, int *place, int *n_read)
{
    for (int written = 0; written < 2; written++) {
        for (int k = 0; k < g->n_operands; k++)
            if (number[k] < 0 && g->operands[k].written == written) place[k] = f->n_memory++;
        if (!written) *n_read = f->n_memory;
    }
    for (int k = 0; k < g->n_operands; k++)
        if (number[k] >= 0) place[k] = f->n_memory + number[k];
}

static sp_status make_fused(const group *g, sp_step *out)
{
    sp_plan *p = g->p;
    int n_read = 0;
    int number[SP_FUSED_OPERANDS],
        place[SP_FUSED_OPERANDS]; /* buffer (-1: memory), then the operand's number in the kernel */
    sp_fused *f = take(p, 1, sizeof *f);
    if (!f) return SP_NOMEM;
    for (int k = 0; k < g->n_operands; k++) number[k] = is_inside(g, &g->operands[k]) ? -2 : -1;
    int64_t size[SP_FUSED_OPERANDS];
    f->n_buffers = assign_buffers(g, number, size);
    int64_t steps[SP_FUSED_OPERANDS][SP_RANK_MAX];
    f->rank = merge(g, f->dims, steps);
    number_operands(g, f, number, place, &n_read);
    f->parts = take(p, (size_t)g->n, sizeof *f->parts);
    f->steps = take(p, (size_t)f->n_memory, sizeof *f->steps);
    f->inner = take(p, (size_t)(f->n_memory + f->n_buffers), sizeof *f->inner);
    int *handles = take(p, (size_t)f->n_memory, sizeof *handles);
    if (!f->parts || !f->steps || !f->inner || !handles) return SP_NOMEM;
    size_t widest = 1;
    for (int k = 0; k < g->n_operands; k++) {
        if (number[k] >= 0) continue;
        memcpy(f->steps[place[k]], steps[k], sizeof steps[k]);
        f->inner[place[k]] = steps[k][f->rank - 1];
        handles[place[k]] = g->operands[k].handle;
    }
    for (int k = 0; k < f->n_buffers; k++) {
        f->inner[f->n_memory + k] = size[k];
        if ((size_t)size[k] > widest) widest = (size_t)size[k];
    }
    f->block = SP_FUSED_BLOCK;
    if (f->n_buffers && (int64_t)(SP_FUSED_BUFFERS / ((size_t)f->n_buffers * widest)) < f->block)
        f->block = (int64_t)(SP_FUSED_BUFFERS / ((size_t)f->n_buffers * widest)) / 16 * 16;
    f->buffer_bytes = (size_t)f->block * widest;
    f->n_parts = g->n;
    for (int i = 0; i < g->n; i++) {
        const sp_step *s = &p->steps[g->first + i];
        sp_fused_part *q = &f->parts[i];
        q->fn = s->loop.fn;
        q->context = s->loop.context;
        f->cost += s->loop.cost;
        for (int j = 0; j < s->n_in + s->n_out; j++) { /* loops take results first */
            int handle = s->handles[j < s->n_out ? s->n_in + j : j - s->n_out], k = 0;
            while (!same_view(&p->handles[g->operands[k].handle], &p->handles[handle])) k++;
            q->step[q->n] = f->inner[place[k]];
            q->operand[q->n++] = (uint8_t)place[k];
        }
    }
    const sp_step *last = &p->steps[g->first + g->n - 1];
    *out = (sp_step){.node = last->node,
                     .run = sp__fused_run,
                     .op = last->op,
                     .attrs = f,
                     .n_in = n_read,
                     .n_out = f->n_memory - n_read,
                     .handles = handles,
                     .work = -1,
                     .n_fused = g->n};
    return SP_OK;
}

/* --- order ------------------------------------------------------------------------------------------------------- */

/* Does the step read what the group writes? */
static bool continues(const group *g, const sp_step *s)
{
    for (int k = 0; k < g->n_operands; k++)
        if (g->operands[k].written && touches(g->p, s, g->p->handles[g->operands[k].handle].root)) return true;
    return false;
}

/* The step at `from` to `to`, which is before it; those in between move down. */
static void move_up(sp_plan *p, int from, int to)
{
    sp_step moved = p->steps[from];
    memmove(&p->steps[to + 1], &p->steps[to], (size_t)(from - to) * sizeof moved);
    p->steps[to] = moved;
}

/* A step further on that joins: moved to the end of the group. */
static bool join_later(group *g)
{
    sp_plan *p = g->p;
    const int end = g->first + g->n;
    for (int i = end + 1; i < p->n_steps && i <= end + LOOK_AHEAD; i++) {
        if (!sp__step_fusible(p, &p->steps[i]) || !continues(g, &p->steps[i]) || !sp__step_can_move(p, i, end))
            continue;
        if (!join(g, &p->steps[i])) continue;
        move_up(p, i, end);
        return true;
    }
    return false;
}

static void grow(group *g)
{
    sp_plan *p = g->p;
    for (;;) {
        const int next = g->first + g->n;
        if (next < p->n_steps && sp__step_fusible(p, &p->steps[next]) && join(g, &p->steps[next])) continue;
        if (!g->n || !join_later(g)) return;
    }
}

sp_status sp__step_fuse(sp_plan *p, int i, sp_step *out)
{
    group g = {.p = p, .first = i};
    return join(&g, &p->steps[i]) ? make_fused(&g, out) : SP_DECLINED;
}

sp_status sp__plan_fuse(sp_plan *p)
{
    int n = 0;
    int *users = sp__plan_users(p);
    if (!users) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int i = 0; i < p->n_steps && status == SP_OK;) {
        group g = {.p = p, .users = users, .first = i};
        grow(&g);
        sp_step made = p->steps[i];
        if (g.n > 1) status = make_fused(&g, &made);
        if (g.n > 1) p->n_fused += g.n;
        p->steps[n++] = made; /* n <= i: what is overwritten has been read */
        i += g.n > 1 ? g.n : 1;
    }
    p->n_steps = n;
    sp__free(users);
    return status;
}
