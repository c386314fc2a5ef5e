/* SPDX-License-Identifier: Apache-2.0 */
/* plan_tail.c - what is done to the result of a product, element by element, is done by the product: bias, activation,
 * residual, scale, and the update of a weight by its gradient. Normalisations of a batch, which finish a channel at a time, do the same.
 *
 * Kernels of products and convolutions hand over each part of their result when it is final, on the thread that made it,
 * while it is in cache (sp_epilogue). The tail is an ordinary fused step over the same elements, run for that part: the inner
 * loops and their operands are the same, so results are bit for bit those of separate steps.
 *
 * A step becomes the tail of a product when it reads the product's result in its own order, writes nothing that the product
 * still reads, and nothing between the two depends on it. */
#include "device/device.h"
#include "graph/fused.h"

enum {
    LOOK_AHEAD = 24,
    NEAR_BYTES = 512 * 1024, /* of all operands together: they stay in the second cache whatever the order */
    SMALL_BYTES = 32 * 1024, /* of an operand that is used again and again: a bias */
    LONG_RUN = 512 /* elements side by side: memory gives other operands as quickly as to a step of their own */
};

/* Is the handle all of the product's result, element by element in its order? */
static bool shows_all(const sp_handle *result, const sp_handle *h)
{
    return h->offset == result->offset && h->shape.count == result->shape.count &&
           (h->shape.flags & SP_TENSOR_CONTIGUOUS) &&
           sp_dtype_bytes((sp_dtype)h->shape.dtype) == sp_dtype_bytes((sp_dtype)result->shape.dtype);
}

/* A product makes its result in tiles. Other large operands would be walked tile by tile too, a short piece of many rows, which
 * memory gives more slowly than it gives them row after row to a step of their own: measured for the updates of large weights. */
static bool stays_near(const sp_plan *p, const sp_step *product, const sp_step *s)
{
    const sp_handle *result = &p->handles[product->handles[product->n_in]];
    size_t all = 0, large = 0;
    if (product->epilogue_run >= LONG_RUN) return true;
    for (int k = 0; k < sp__step_handles(s); k++) {
        const sp_handle *h = &p->handles[s->handles[k]];
        const size_t bytes = sp_tensor_bytes(&h->shape);
        all += bytes;
        if (h->root != result->root && bytes > SMALL_BYTES) large++;
    }
    return large == 0 || all <= NEAR_BYTES;
}

static bool can_follow(const sp_plan *p, const sp_step *product, const sp_step *s)
{
    if ((s->run != sp__fused_run && !sp__step_fusible(p, s)) || s->n_out < 1) return false;
    const sp_handle *result = &p->handles[product->handles[product->n_in]];
    const sp_tensor *o = &p->handles[s->handles[s->n_in]].shape;
    bool reads = false;
    if (o->count != result->shape.count) return false;
    for (int k = 0; k < sp__step_handles(s); k++) {
        const sp_handle *h = &p->handles[s->handles[k]];
        if (h->root != result->root) continue;
        if (!shows_all(result, h)) return false;
        reads = true;
    }
    for (int m = product->n_in + 1; m < product->n_in + product->n_out; m++) /* final when the product ends */
        for (int k = 0; k < sp__step_handles(s); k++)
            if (sp__step_root(p, product, m) == sp__step_root(p, s, k)) return false;
    for (int k = s->n_in; reads && k < sp__step_handles(s); k++) /* written, while the product reads its inputs */
        for (int i = 0; i < product->n_in; i++)
            if (sp__step_root(p, product, i) == sp__step_root(p, s, k)) return false;
    return reads && stays_near(p, product, s);
}

static sp_status attach(sp_plan *p, sp_step *product, const sp_step *s)
{
    const int n = product->n_in + product->n_out, n_tail = sp__step_handles(s);
    int *handles = sp__arena_alloc(&p->arena, (size_t)(n + n_tail) * sizeof *handles);
    if (!handles) return SP_NOMEM;
    memcpy(handles, product->handles, (size_t)n * sizeof *handles);
    memcpy(handles + n, s->handles, (size_t)n_tail * sizeof *handles);
    product->handles = handles;
    product->tail = s->attrs;
    product->tail_in = s->n_in;
    product->tail_out = s->n_out;
    product->n_fused = 1 + s->n_fused;
    p->n_tails += s->n_fused;
    return SP_OK;
}

/* What step k needs between product i and itself, and could be made before the product as well: the scale and shift of a normalisation,
 * computed from its weights. They go in front of the product, which moves behind them. Whether k can follow the product then. */
static bool bring_forward(sp_plan *p, int *i, int k)
{
    for (int j = *i + 1; j < k; j++) {
        if (!sp__steps_depend(p, &p->steps[j], &p->steps[k])) continue;
        for (int o = 0; o < p->steps[j].n_out; o++)
            if (sp_tensor_bytes(&p->handles[p->steps[j].handles[p->steps[j].n_in + o]].shape) > SMALL_BYTES)
                return false;
        if (!sp__step_can_move(p, j, *i)) return false;
        const sp_step moved = p->steps[j];
        memmove(&p->steps[*i + 1], &p->steps[*i], (size_t)(j - *i) * sizeof moved);
        p->steps[(*i)++] = moved;
    }
    return true;
}

/* The product at *i, which may move up, gets a tail from further on, if there is one; what lies between moves up by one then, the next
 * step is at *i + 2. SP_DECLINED: there is none. */
static sp_status find_tail(sp_plan *p, int *i)
{
    for (int k = *i + 1; k < p->n_steps && k <= *i + LOOK_AHEAD; k++) {
        if (!can_follow(p, &p->steps[*i], &p->steps[k]) || !bring_forward(p, i, k)) continue;
        sp_step tail = p->steps[k];
        sp_status status = tail.run == sp__fused_run ? SP_OK : sp__step_fuse(p, k, &tail);
        if (status == SP_DECLINED) continue;
        SP_TRY(status);
        SP_TRY(attach(p, &p->steps[*i], &tail));
        memmove(&p->steps[*i + 2], &p->steps[*i + 1], (size_t)(k - *i - 1) * sizeof *p->steps);
        return SP_OK;
    }
    return SP_DECLINED;
}

sp_status sp__plan_tails(sp_plan *p)
{
    int n = 0;
    for (int i = 0; i < p->n_steps; i++) {
        const int first = i;
        sp_status status = p->steps[i].epilogue ? find_tail(p, &i) : SP_DECLINED;
        if (status != SP_DECLINED) SP_TRY(status);
        for (int k = first; k <= i; k++)
            p->steps[n++] = p->steps[k]; /* n <= k: what is overwritten has been dealt with */
        if (status == SP_OK) i++;
    }
    p->n_steps = n;
    return SP_OK;
}

void sp__tail_run(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n)
{
    const sp_tail *t = context;
    sp__fused_tile(t->fused, t->operands, start, n_rows, row_step, n);
}
