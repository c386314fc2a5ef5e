/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_matmul.c - matmul on sp__gemm. float16, and bfloat16 on a CPU without dot products for it or times a vector, are widened to float first
 * and rounded once at the end. */
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/gemm.h"
#include "ir/matmul_geometry.h"

typedef struct matmul_plan {
    sp__matmul_geometry g;
    sp__gemm_shape s;
    bool half; /* operands are widened: row-major copies in the scratch */
    int64_t a_count, b_count, c_count;
    size_t offsets_bytes, wide_bytes, gemm_bytes;
} matmul_plan;

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Geometry of the product, of row-major copies if operands are widened. */
static sp_status measure(const sp_call *c, bool half, matmul_plan *p)
{
    sp_tensor a = *c->in[0], b = *c->in[1];
    if (half) {
        sp__shape_strides(a.rank, a.dims, a.strides);
        sp__shape_strides(b.rank, b.dims, b.strides);
    }
    p->half = half;
    SP_TRY(sp__matmul_measure(&a, &b, c->attrs, &p->g));
    sp__matmul_geometry *g = &p->g;
    if (g->n_batch > 1 && sp__matmul_is_tall(g)) {
        g->m *= g->n_batch;
        g->n_batch = 1;
        g->batch_rank = 0;
    }
    return SP_OK;
}

static sp_status plan(const sp_call *c, matmul_plan *p)
{
    const sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    const sp_tensor *a = c->in[0], *b = c->in[1];
    SP_TRY(measure(c, !sp__gemm_takes(dtype), p));
    /* A vector would fill one row of each tile. */
    if (!p->half && dtype == SP_DTYPE_BF16 && (p->g.m == 1 || p->g.n == 1)) SP_TRY(measure(c, true, p));
    const sp__matmul_geometry *g = &p->g;
    p->s = (sp__gemm_shape){.dtype = p->half ? SP_DTYPE_F32 : dtype,
                            .m = g->m,
                            .n = g->n,
                            .k = g->k,
                            .a_row = g->a_row,
                            .a_col = g->a_col,
                            .b_row = g->b_row,
                            .b_col = g->b_col,
                            .c_row = g->n};
    /* A dimension of one has no stride to speak of; say the one that suits the kernels. */
    if (g->k == 1) p->s.a_col = p->s.b_row = 1;
    if (g->n == 1 && g->b_row == 1) p->s.b_col = g->k;
    p->a_count = a->count;
    p->b_count = b->count;
    p->c_count = g->n_batch * g->m * g->n;
    p->offsets_bytes = g->n_batch > 1 ? aligned((size_t)g->n_batch * 2 * sizeof(int64_t)) : 0;
    p->wide_bytes =
        p->half ? aligned((size_t)p->a_count * 4) + aligned((size_t)p->b_count * 4) + aligned((size_t)p->c_count * 4)
                : 0;
    p->gemm_bytes = sp__gemm_batch_work(&p->s, g->n_batch);
    return SP_OK;
}

bool sp__cpu_matmul_takes(const sp_call *c)
{
    sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    return sp_dtype_kind(dtype) == 'f' || sp__gemm_takes(dtype);
}

size_t sp__cpu_matmul_work(const sp_call *c)
{
    matmul_plan p;
    return plan(c, &p) == SP_OK ? p.offsets_bytes + p.wide_bytes + p.gemm_bytes : 0;
}

static sp_status convert(const sp_tensor *from, sp_dtype to_dtype, void *to)
{
    sp_tensor out = *from;
    out.dtype = (int8_t)to_dtype;
    out.data = to;
    sp__shape_strides(out.rank, out.dims, out.strides);
    const sp_tensor *operands[2] = {&out, from};
    sp_loop loop;
    sp__loop_init(&loop, from->rank, from->dims, 2, operands);
    return sp__loop_run(&loop, sp__cast_loop((sp_dtype)from->dtype, to_dtype), NULL, 16);
}

sp_status sp__cpu_matmul(const sp_call *c)
{
    matmul_plan p;
    SP_TRY(plan(c, &p));
    if (c->out[0]->count == 0) return SP_OK;
    char *work = c->work;
    const void *a = c->in[0]->data, *b = c->in[1]->data;
    void *out = c->out[0]->data;
    int64_t *a_offset = (int64_t *)(void *)work, *b_offset = a_offset + p.g.n_batch;
    if (p.half) {
        char *wide = work + p.offsets_bytes;
        char *wide_b = wide + aligned((size_t)p.a_count * 4), *wide_c = wide_b + aligned((size_t)p.b_count * 4);
        SP_TRY(convert(c->in[0], SP_DTYPE_F32, wide));
        SP_TRY(convert(c->in[1], SP_DTYPE_F32, wide_b));
        a = wide;
        b = wide_b;
        out = wide_c;
    }
    char *gemm_work = work + p.offsets_bytes + p.wide_bytes;
    const sp_epilogue *epilogue = p.half ? NULL : c->epilogue; /* half: the results are not rounded before the end */
    if (p.g.n_batch == 1) {
        const sp__gemm_extra extra = {.epilogue = epilogue, .packed_b = c->prepared};
        SP_TRY(sp__gemm_with(&p.s, a, b, out, false, gemm_work, &extra));
    } else {
        for (int64_t i = 0; i < p.g.n_batch; i++) sp__matmul_offsets(&p.g, i, &a_offset[i], &b_offset[i]);
        const sp__gemm_batch batch = {.n = p.g.n_batch,
                                      .a_offset = a_offset,
                                      .b_offset = b_offset,
                                      .c_step = p.g.m * p.g.n,
                                      .epilogue = epilogue};
        SP_TRY(sp__gemm_batched(&p.s, &batch, a, b, out, false, gemm_work));
    }
    if (!p.half) return SP_OK;
    sp_tensor wide_out = *c->out[0];
    wide_out.dtype = SP_DTYPE_F32;
    wide_out.data = out;
    SP_TRY(convert(&wide_out, (sp_dtype)c->out[0]->dtype, c->out[0]->data));
    if (c->epilogue) c->epilogue->fn(c->epilogue->context, 0, 1, 0, c->out[0]->count);
    return SP_OK;
}

/* Constant weights in panels: one product (a batch of rows included), read as often as the panels would be made. */
size_t sp__cpu_matmul_prepared(const sp_call *c)
{
    matmul_plan p;
    if (plan(c, &p) != SP_OK || p.half || p.g.n_batch != 1) return 0;
    return sp__gemm_packed_bytes(&p.s);
}

/* Panels of vectors lie as n and k have it, whatever the number of rows. */
sp_prepared_form sp__cpu_matmul_form(const sp_call *c)
{
    matmul_plan p;
    if (plan(c, &p) != SP_OK) return (sp_prepared_form){{0}};
    return (sp_prepared_form){{sp__gemm_is_tiled(&p.s, SP_GEMM_TILES_SHARE) ? 2 : 1, p.s.n, p.s.b_row, p.s.b_col}};
}

sp_status sp__cpu_matmul_prepare(const sp_call *c, void *to)
{
    matmul_plan p;
    SP_TRY(plan(c, &p));
    return sp__gemm_pack_b(&p.s, c->in[1]->data, to);
}
