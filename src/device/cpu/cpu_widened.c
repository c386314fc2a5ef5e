/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_widened.c - operators of float16 and bfloat16 whose loops compute in float32 and round once at the end: all operands are widened first, by vectors, the
 * kernel of float32 runs, and results are rounded. The same bits as one element after the other, without a conversion inside of every loop.
 *
 * The scratch holds widened inputs, results in float32, then what the kernel of float32 wants. */
#include "device/cpu/cpu_kernels.h"

enum { IN_MAX = 8, OUT_MAX = 4, COST = 8 };

typedef struct widened {
    sp_call call; /* the same of float32 */
    sp_kernel kernel;
    sp_tensor in[IN_MAX], out[OUT_MAX];
    sp_tensor *ins[IN_MAX], *outs[OUT_MAX];
    size_t at_in[IN_MAX], at_out[OUT_MAX], at_work, bytes; /* in the scratch */
} widened;

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
static bool is_half(const sp_tensor *t) { return t->dtype == SP_DTYPE_F16 || t->dtype == SP_DTYPE_BF16; }

/* The call of float32: geometry, and where in the scratch its operands lie. */
static sp_status plan(const sp_call *c, widened *w)
{
    sp_meta meta[OUT_MAX];
    *w = (widened){.call = *c};
    w->call.in = w->ins;
    w->call.out = w->outs;
    w->call.epilogue = NULL;
    w->call.prologue = NULL;
    w->call.prepared = NULL;
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i]) continue;
        w->in[i] = *c->in[i];
        w->ins[i] = &w->in[i];
        if (!is_half(c->in[i])) continue;
        w->in[i].dtype = SP_DTYPE_F32;
        w->at_in[i] = w->bytes;
        w->bytes += aligned((size_t)c->in[i]->count * sizeof(float));
    }
    SP_TRY(sp__infer(c, meta));
    for (int k = 0; k < c->n_out; k++) {
        sp_tensor *t = &w->out[k];
        *t = (sp_tensor){
            .rank = (int8_t)meta[k].rank, .dtype = (int8_t)meta[k].dtype, .count = 1, .flags = SP_TENSOR_CONTIGUOUS};
        for (int i = 0; i < meta[k].rank; i++) t->count *= t->dims[i] = meta[k].dims[i];
        sp__shape_strides(t->rank, t->dims, t->strides);
        w->outs[k] = t;
        if (!is_half(t)) continue;
        t->dtype = SP_DTYPE_F32;
        w->at_out[k] = w->bytes;
        w->bytes += aligned((size_t)t->count * sizeof(float));
    }
    w->at_work = w->bytes;
    SP_TRY(sp__kernel_choose(&w->call, &w->kernel));
    if (w->kernel.workspace) w->bytes += w->kernel.workspace(&w->call);
    return SP_OK;
}

bool sp__cpu_widened_takes(const sp_call *c) { return c->n_in <= IN_MAX && c->n_out <= OUT_MAX; }

size_t sp__cpu_widened_work(const sp_call *c)
{
    widened w;
    return plan(c, &w) == SP_OK ? w.bytes : 0;
}

/* Elements of row-major tensors, in parallel. */
static sp_status convert(const sp_tensor *from, const sp_tensor *to)
{
    const sp_tensor *operands[2] = {to, from};
    sp_loop loop;
    sp__loop_init(&loop, from->rank, from->dims, 2, operands);
    return sp__loop_run(&loop, sp__cast_loop((sp_dtype)from->dtype, (sp_dtype)to->dtype), NULL, COST);
}

sp_status sp__cpu_widened(const sp_call *c)
{
    widened w;
    SP_TRY(plan(c, &w));
    char *work = c->work;
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i] || !is_half(c->in[i])) continue;
        w.in[i].data = work + w.at_in[i];
        SP_TRY(convert(c->in[i], &w.in[i]));
    }
    for (int k = 0; k < c->n_out; k++) w.out[k].data = is_half(c->out[k]) ? work + w.at_out[k] : c->out[k]->data;
    w.call.work = work + w.at_work;
    SP_TRY(sp__kernel_run(&w.kernel, &w.call));
    for (int k = 0; k < c->n_out; k++)
        if (is_half(c->out[k])) SP_TRY(convert(&w.out[k], c->out[k]));
    return SP_OK;
}
