/* SPDX-License-Identifier: Apache-2.0 */
/* plan_head.c - what is done to the input of a reduction, element by element, is done by the reduction: the chain that a sum, a
 * mean or a maximum closes.
 *
 * Kernels of reductions ask for each part of their input when they come to it (sp_prologue), on the thread that will read it. The
 * head is an ordinary fused step over the same elements, run for that part: inner loops, values and the order in which they are
 * summed are those of separate steps, so results are bit for bit the same. Where nobody else reads what the head makes, it is made in
 * a room of the size of a part, one a thread, and never goes to memory as a whole; else in its place, and read while it is in cache.
 *
 * A step becomes the head of a reduction when it writes the reduction's whole input in its order, nothing that the reduction writes,
 * and the reduction can follow it at once. */
#include "device/device.h"
#include "graph/fused.h"

enum {
    LOOK_AHEAD = 48,
    ROOM_BYTES = 256 * 1024 /* of a part, at most: it has to stay in the second cache */
};

/* Is the handle the whole input of the reduction, element by element in its order? */
static bool is_whole(const sp_handle *input, const sp_handle *h)
{
    return h->root == input->root && h->offset == input->offset && h->shape.count == input->shape.count &&
           h->shape.dtype == input->shape.dtype && (h->shape.flags & SP_TENSOR_CONTIGUOUS);
}

/* The operand of s that makes the input of the reduction; -1: none, or s sees that memory otherwise too. */
static int made_by(const sp_plan *p, const sp_step *s, const sp_step *reduction)
{
    if (s->tail || s->n_out < 1 || (s->run != sp__fused_run && !sp__step_fusible(p, s))) return -1;
    const sp_handle *input = &p->handles[reduction->handles[0]];
    int made = -1;
    for (int k = 0; k < sp__step_handles(s); k++) {
        const sp_handle *h = &p->handles[s->handles[k]];
        if (h->root != input->root) continue;
        if (!is_whole(input, h)) return -1;
        if (k >= s->n_in) made = k;
    }
    for (int k = reduction->n_in; k < sp__step_handles(reduction); k++)
        for (int i = 0; i < sp__step_handles(s); i++)
            if (sp__step_root(p, s, i) == sp__step_root(p, reduction, k)) return -1;
    return made;
}

/* Elements of a part as the kernel asks for them; 0: they are not one run, or the kernel will not say. */
static int64_t part_elements(const sp_plan *p, const sp_step *reduction)
{
    sp_tensor *in[1] = {&p->handles[reduction->handles[0]].shape};
    const sp_call c = {.op = reduction->op, .attrs = reduction->attrs, .n_in = 1, .in = in};
    return reduction->prologue(&c);
}

/* Rooms in place of the whole: the arena then holds these only. */
static void make_rooms(sp_plan *p, sp_step *reduction)
{
    sp_root *root = &p->roots[p->handles[reduction->handles[0]].root];
    const int64_t part = part_elements(p, reduction);
    const size_t bytes = ((size_t)part * sizeof(float) + 63) / 64 * 64;
    const int n = sp_threads() < SP_ROOMS_MAX ? sp_threads() : SP_ROOMS_MAX;
    if (part == 0 || bytes > ROOM_BYTES || bytes * (size_t)n >= root->bytes) return;
    root->bytes = bytes * (size_t)n;
    reduction->room = (int64_t)(bytes / sizeof(float));
    reduction->n_rooms = n;
}

static sp_status attach_head(sp_plan *p, sp_step *reduction, const sp_step *s, int made, bool alone)
{
    const int n = reduction->n_in + reduction->n_out, n_head = sp__step_handles(s);
    int *handles = sp__arena_alloc(&p->arena, (size_t)(n + n_head) * sizeof *handles);
    if (!handles) return SP_NOMEM;
    memcpy(handles, reduction->handles, (size_t)n * sizeof *handles);
    memcpy(handles + n, s->handles, (size_t)n_head * sizeof *handles);
    reduction->handles = handles;
    reduction->tail = s->attrs;
    reduction->tail_in = s->n_in;
    reduction->tail_out = s->n_out;
    reduction->is_head = true;
    reduction->made = made;
    reduction->n_fused = 1 + s->n_fused;
    p->n_heads += s->n_fused;
    if (alone) make_rooms(p, reduction);
    return SP_OK;
}

/* The operand numbers of a step that was fused anew differ from those of the step: found again by what it makes. */
static int operand_of(const sp_plan *p, const sp_step *s, const sp_step *reduction)
{
    const sp_handle *input = &p->handles[reduction->handles[0]];
    for (int k = s->n_in; k < sp__step_handles(s); k++)
        if (is_whole(input, &p->handles[s->handles[k]])) return k;
    return -1;
}

/* The step at i with the reduction at k, which takes its place; what lies between moves up by one, the next step is at i + 2. */
static sp_status close_with(sp_plan *p, int *users, int i, int k)
{
    sp_step head = p->steps[i], reduction = p->steps[k];
    if (head.run != sp__fused_run) SP_TRY(sp__step_fuse(p, i, &head));
    const int made = operand_of(p, &head, &reduction), root = p->handles[reduction.handles[0]].root;
    if (made < 0) return SP_DECLINED;
    const bool alone = p->roots[root].kind == SP_ROOT_ARENA && users[root] == 2;
    SP_TRY(attach_head(p, &reduction, &head, made, alone));
    users[root]--; /* the only root that both touch */
    p->steps[i] = reduction;
    memmove(&p->steps[i + 2], &p->steps[i + 1], (size_t)(k - i - 1) * sizeof *p->steps);
    return SP_OK;
}

/* The step at i becomes the head of a reduction further on, if there is one for it; SP_DECLINED: there is none. */
static sp_status find_reduction(sp_plan *p, int *users, int i)
{
    for (int k = i + 1; k < p->n_steps && k <= i + LOOK_AHEAD; k++) {
        const sp_step *r = &p->steps[k];
        if (!r->prologue || r->tail || r->n_in != 1 || made_by(p, &p->steps[i], r) < 0 ||
            !sp__step_can_move(p, k, i + 1))
            continue;
        sp_status status = close_with(p, users, i, k);
        if (status != SP_DECLINED) return status;
    }
    return SP_DECLINED;
}

sp_status sp__plan_heads(sp_plan *p)
{
    int *users = sp__plan_users(p), n = 0;
    if (!users) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int i = 0; i < p->n_steps && (status == SP_OK || status == SP_DECLINED); i += status == SP_OK ? 2 : 1) {
        status = find_reduction(p, users, i);
        p->steps[n++] = p->steps[i]; /* n <= i: what is overwritten has been dealt with */
    }
    sp__free(users);
    if (status != SP_OK && status != SP_DECLINED) return status;
    p->n_steps = n;
    return SP_OK;
}

/* --- running ----------------------------------------------------------------------------------------------------- */

static int take_room(sp_head *h)
{
    for (;;) { /* there is one for every thread; others are there only when threads were added later */
        unsigned long long taken = atomic_load_explicit(&h->taken, memory_order_relaxed);
        for (int i = 0; i < h->n_rooms; i++)
            if (!(taken >> i & 1) && !(atomic_fetch_or_explicit(&h->taken, 1ull << i, memory_order_acquire) >> i & 1))
                return i;
    }
}

const void *sp__head_make(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n)
{
    sp_head *h = context;
    const sp_tensor *whole = h->operands[h->made];
    if (!h->room) {
        sp__fused_tile(h->fused, h->operands, start, n_rows, row_step, n);
        return whole->data + start * (int64_t)sizeof(float);
    }
    /* The whole as if it lay around the room, so that the part comes to lie in it. */
    char *room = whole->data + take_room(h) * h->room * (int64_t)sizeof(float);
    sp_tensor around = *whole, *operands[SP_FUSED_OPERANDS];
    around.data = (char *)((uintptr_t)room - (uintptr_t)start * sizeof(float));
    for (int k = 0; k < h->fused->n_memory; k++) operands[k] = k == h->made ? &around : h->operands[k];
    sp__fused_tile(h->fused, operands, start, n_rows, row_step, n);
    return room;
}

void sp__head_done(void *context, const void *made)
{
    sp_head *h = context;
    if (!h->room) return;
    const int64_t at = (const char *)made - h->operands[h->made]->data;
    atomic_fetch_and_explicit(&h->taken, ~(1ull << (at / (h->room * (int64_t)sizeof(float)))), memory_order_release);
}
