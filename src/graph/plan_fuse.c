/* SPDX-License-Identifier: Apache-2.0 */
/* plan_fuse.c - neighbouring element-wise steps as one: block by block, each block through all of them while it is in cache.
 *
 * The inner loops are those of the operators' own kernels, called for a block at a time, so that results are the same bit for
 * bit. Memory that only these steps touch becomes a buffer of one block on the stack of whoever runs the block: a chain of
 * ten operators reads and writes what it starts from and ends in, nothing else.
 *
 * Steps join a group while
 *   - they run over the same elements;
 *   - memory that one of them writes is seen by all of them in the same way (else a block would see others' elements);
 *   - the dimensions of all operands together can be walked in runs long enough to pay for the calls. */
#include "graph/plan.h"

enum {
    PARTS_MAX = 48,
    OPERANDS_MAX = 40,   /* of a group: memory and buffers */
    BUFFERS_BYTES = 24 * 1024,
    BLOCK_MAX = 2048,
    RUN_LEAST = 48,      /* elements in a run, unless there is one run only */
    PART_NS = 30000      /* what is worth a thread: as in src/tensor/loop.c */
};

typedef struct {
    sp_loop_fn fn;
    const void *context;
    int n;
    uint8_t operand[SP_LOOP_MAX];
} part;

/* A fused step, as its kernel sees it. Operands are numbered: those in memory, which are the call's, then buffers. */
typedef struct {
    int n_parts, n_memory, n_buffers, cost;
    int rank;
    int64_t dims[SP_RANK_MAX];
    int64_t block;
    size_t buffer_bytes;
    part *parts;
    int64_t (*steps)[SP_RANK_MAX]; /* by operand in memory, bytes */
    int64_t *inner;                /* by operand: bytes from one element of a run to the next */
} fused;

/* --- running ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const fused *f;
    const sp_call *call;
    bool by_column;
    int64_t grain;
} fused_job;

static inline void run_block(const fused *f, int64_t n, char *const *at)
{
    for (int k = 0; k < f->n_parts; k++) {
        const part *p = &f->parts[k];
        char *ptr[SP_LOOP_MAX];
        int64_t step[SP_LOOP_MAX];
        for (int i = 0; i < p->n; i++) {
            ptr[i] = at[p->operand[i]];
            step[i] = f->inner[p->operand[i]];
        }
        p->fn(n, ptr, step, p->context);
    }
}

/* Rows [begin, end) and of them columns [from, to). */
static void run_rows(const fused *f, const sp_call *c, int64_t begin, int64_t end, int64_t from, int64_t to)
{
    _Alignas(64) char buffers[BUFFERS_BYTES];
    const int last = f->rank - 1;
    char *row[OPERANDS_MAX], *at[OPERANDS_MAX];
    for (int k = 0; k < f->n_buffers; k++) at[f->n_memory + k] = buffers + (size_t)k * f->buffer_bytes;
    for (int64_t r = begin; r < end; r++) {
        int64_t rest = r;
        for (int k = 0; k < f->n_memory; k++) row[k] = c->in[k]->data;
        for (int i = last - 1; i >= 0; i--) {
            int64_t index = rest % f->dims[i];
            rest /= f->dims[i];
            for (int k = 0; k < f->n_memory; k++) row[k] += index * f->steps[k][i];
        }
        for (int64_t col = from; col < to; col += f->block) {
            for (int k = 0; k < f->n_memory; k++) at[k] = row[k] + col * f->inner[k];
            run_block(f, to - col < f->block ? to - col : f->block, at);
        }
    }
}

static void run_chunk(void *context, int64_t begin, int64_t end)
{
    const fused_job *j = context;
    const int64_t cols = j->f->dims[j->f->rank - 1];
    if (!j->by_column) {
        run_rows(j->f, j->call, begin, end, 0, cols);
        return;
    }
    int64_t rows = 1;
    for (int i = 0; i < j->f->rank - 1; i++) rows *= j->f->dims[i];
    for (int64_t k = begin; k < end; k++) {
        int64_t from = k * j->grain, to = from + j->grain < cols ? from + j->grain : cols;
        run_rows(j->f, j->call, 0, rows, from, to);
    }
}

static sp_status fused_run(const sp_call *c)
{
    const fused *f = c->attrs;
    const int64_t cols = f->dims[f->rank - 1];
    int64_t rows = 1;
    for (int i = 0; i < f->rank - 1; i++) rows *= f->dims[i];
    const int64_t worth = (int64_t)PART_NS * 16 / f->cost;
    if (rows * cols < 2 * worth) {
        run_rows(f, c, 0, rows, 0, cols);
        return SP_OK;
    }
    fused_job job = {.f = f, .call = c, .by_column = cols >= worth || rows < 4};
    if (!job.by_column) return sp__parallel_for(rows, worth / cols > 0 ? worth / cols : 1, run_chunk, &job);
    job.grain = worth / rows > 64 ? worth / rows / 64 * 64 : 64;
    return sp__parallel_for((cols + job.grain - 1) / job.grain, 1, run_chunk, &job);
}

/* --- finding groups ---------------------------------------------------------------------------------------------- */

/* A handle as an operand of the group. */
typedef struct {
    int handle;
    bool written;
} operand;

typedef struct {
    sp_plan *p;
    int first, n;                 /* steps */
    operand operands[OPERANDS_MAX];
    int n_operands;
} group;

static const sp_tensor *shape_of(const sp_plan *p, int handle) { return &p->handles[handle].shape; }

static bool can_fuse(const sp_plan *p, const sp_step *s)
{
    if (!s->loop.fn || s->n_in + s->n_out > SP_LOOP_MAX || s->n_out < 1 || s->work >= 0) return false;
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
            if (g->n_operands == OPERANDS_MAX) return false;
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
    int64_t all[OPERANDS_MAX][SP_RANK_MAX];
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
    if (g->n == PARTS_MAX) return false;
    if (g->n) {
        const sp_step *head = &g->p->steps[g->first];
        if (!sp__tensor_same_shape(shape_of(g->p, head->handles[head->n_in]), shape_of(g->p, s->handles[s->n_in]))) return false;
    }
    group with = *g;
    if (!add_operands(&with, s)) return false;
    int64_t dims[SP_RANK_MAX], steps[OPERANDS_MAX][SP_RANK_MAX];
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
    const sp_root *r = &g->p->roots[g->p->handles[o->handle].root];
    return r->kind == SP_ROOT_ARENA && r->first >= g->first && r->last < g->first + g->n;
}

/* Buffers for what is inside: one is free again after the part that touches it last, for elements of the same size. */
static int assign_buffers(const group *g, int *number, int64_t *size)
{
    bool busy[OPERANDS_MAX] = {false};
    int last[OPERANDS_MAX], most = 0;
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
                if (number[k] != -2 || !same_view(&g->p->handles[g->operands[k].handle], &g->p->handles[s->handles[j]])) continue;
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

static sp_status make_fused(const group *g, sp_step *out)
{
    sp_plan *p = g->p;
    int number[OPERANDS_MAX], place[OPERANDS_MAX]; /* buffer (-1: memory), then the operand's number in the kernel */
    fused *f = take(p, 1, sizeof *f);
    if (!f) return SP_NOMEM;
    for (int k = 0; k < g->n_operands; k++) number[k] = is_inside(g, &g->operands[k]) ? -2 : -1;
    int64_t size[OPERANDS_MAX];
    f->n_buffers = assign_buffers(g, number, size);
    int64_t steps[OPERANDS_MAX][SP_RANK_MAX];
    f->rank = merge(g, f->dims, steps);
    for (int k = 0; k < g->n_operands; k++)
        if (number[k] < 0) place[k] = f->n_memory++;
    for (int k = 0; k < g->n_operands; k++)
        if (number[k] >= 0) place[k] = f->n_memory + number[k];
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
    f->block = BLOCK_MAX;
    if (f->n_buffers && (int64_t)(BUFFERS_BYTES / ((size_t)f->n_buffers * widest)) < f->block)
        f->block = (int64_t)(BUFFERS_BYTES / ((size_t)f->n_buffers * widest)) / 16 * 16;
    f->buffer_bytes = (size_t)f->block * widest;
    f->n_parts = g->n;
    for (int i = 0; i < g->n; i++) {
        const sp_step *s = &p->steps[g->first + i];
        part *q = &f->parts[i];
        q->fn = s->loop.fn;
        q->context = s->loop.context;
        f->cost += s->loop.cost;
        for (int j = 0; j < s->n_in + s->n_out; j++) { /* loops take results first */
            int handle = s->handles[j < s->n_out ? s->n_in + j : j - s->n_out], k = 0;
            while (!same_view(&p->handles[g->operands[k].handle], &p->handles[handle])) k++;
            q->operand[q->n++] = (uint8_t)place[k];
        }
    }
    const sp_step *last = &p->steps[g->first + g->n - 1];
    *out = (sp_step){.node = last->node, .run = fused_run, .op = last->op, .attrs = f, .n_in = f->n_memory, .n_out = 0,
                     .handles = handles, .work = -1, .n_fused = g->n};
    p->n_fused += g->n;
    return SP_OK;
}

sp_status sp__plan_fuse(sp_plan *p)
{
    int n = 0;
    sp__plan_lifetimes(p);
    for (int i = 0; i < p->n_steps;) {
        group g = {.p = p, .first = i};
        while (i + g.n < p->n_steps && can_fuse(p, &p->steps[i + g.n]) && join(&g, &p->steps[i + g.n])) continue;
        sp_step made = p->steps[i];
        int length = g.n > 1 ? g.n : 1;
        if (g.n > 1) SP_TRY(make_fused(&g, &made));
        p->steps[n++] = made; /* n <= i: what is overwritten has been read */
        i += length;
    }
    p->n_steps = n;
    return SP_OK;
}
