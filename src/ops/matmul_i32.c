/* SPDX-License-Identifier: Apache-2.0 */
/* matmul_i32.c - the product of quantised matrices: bytes less their zero points, summed in int32, which wraps. */
#include "ir/matmul_geometry.h"
#include "ops/kernels.h"

static bool is_bytes(const sp_tensor *t) { return t->dtype == SP_DTYPE_I8 || t->dtype == SP_DTYPE_U8; }

static sp_status check_zero(const char *name, const sp_tensor *zero, const sp_tensor *of, int64_t columns)
{
    char text[SP_SHAPE_TEXT];
    if (!zero) return SP_OK;
    SP_CHECK(zero->dtype == of->dtype, SP_TYPE, "matmul_i32: %s is %s, it must be %s as the operand it belongs to",
             name, sp_dtype_name((sp_dtype)zero->dtype), sp_dtype_name((sp_dtype)of->dtype));
    bool fits = zero->rank == 0 || (zero->rank == 1 && (zero->dims[0] == 1 || zero->dims[0] == columns));
    if (fits) return SP_OK;
    sp__shape_text(zero->rank, zero->dims, text);
    if (columns == 1) return sp__fail(SP_VALUE, "matmul_i32: %s has shape %s, it must be one number", name, text);
    return sp__fail(SP_VALUE, "matmul_i32: %s has shape %s, it must be one number, or one for each of %lld columns",
                    name, text, (long long)columns);
}

static sp_status matmul_i32_infer(const sp_call *c, sp_meta *out)
{
    static const sp_matmul_attrs plain = {false, false};
    const sp_tensor *x = c->in[0], *y = c->in[1];
    sp__matmul_geometry g;
    SP_CHECK(is_bytes(y), SP_TYPE, "matmul_i32: the right operand is %s, it must be int8 or uint8",
             sp_dtype_name((sp_dtype)y->dtype));
    SP_TRY(sp__matmul_measure(x, y, &plain, &g));
    SP_TRY(check_zero("x_zero", c->in[2], x, 1));
    SP_TRY(check_zero("y_zero", c->in[3], y, g.n));
    SP_CHECK(g.batch_rank + (x->rank > 1) + (y->rank > 1) <= SP_RANK_MAX, SP_VALUE,
             "matmul_i32: the result would have more than %d dimensions", SP_RANK_MAX);
    out->dtype = SP_DTYPE_I32;
    out->rank = 0;
    for (int i = 0; i < g.batch_rank; i++) out->dims[out->rank++] = g.batch[i];
    if (x->rank > 1) out->dims[out->rank++] = g.m;
    if (y->rank > 1) out->dims[out->rank++] = g.n;
    return SP_OK;
}

/* --- reference --------------------------------------------------------------------------------------------------- */

static int32_t byte_at(const sp_tensor *t, int64_t at)
{
    return t->dtype == SP_DTYPE_U8 ? ((const uint8_t *)t->data)[at] : ((const int8_t *)t->data)[at];
}

static int32_t zero_at(const sp_tensor *zero, int64_t i)
{
    if (!zero) return 0;
    return byte_at(zero, zero->rank == 1 && zero->dims[0] > 1 ? i * zero->strides[0] : 0);
}

typedef struct {
    sp__matmul_geometry g;
    const sp_call *c;
} i32_job;

static void rows_i32(void *context, int64_t begin, int64_t end)
{
    const i32_job *job = context;
    const sp__matmul_geometry *g = &job->g;
    const sp_tensor *x = job->c->in[0], *y = job->c->in[1];
    const int32_t x_zero = zero_at(job->c->in[2], 0);
    for (int64_t r = begin; r < end; r++) {
        int64_t a, b;
        sp__matmul_offsets(g, r / g->m, &a, &b);
        a += r % g->m * g->a_row;
        for (int64_t j = 0; j < g->n; j++) {
            const int32_t y_zero = zero_at(job->c->in[3], j);
            uint32_t sum = 0;
            for (int64_t p = 0; p < g->k; p++)
                sum += (uint32_t)((byte_at(x, a + p * g->a_col) - x_zero) *
                                  (byte_at(y, b + p * g->b_row + j * g->b_col) - y_zero));
            ((uint32_t *)job->c->out[0]->data)[r * g->n + j] = sum;
        }
    }
}

static sp_status matmul_i32_reference(const sp_call *c)
{
    static const sp_matmul_attrs plain = {false, false};
    i32_job job = {.c = c};
    SP_TRY(sp__matmul_measure(c->in[0], c->in[1], &plain, &job.g));
    if (c->out[0]->count == 0) return SP_OK;
    int64_t row = job.g.n * job.g.k + 1, grain = row > 65536 ? 1 : 65536 / row;
    return sp__parallel_for(job.g.n_batch * job.g.m, grain, rows_i32, &job);
}

const sp_op sp_op_matmul_i32 = {
    .name = "matmul_i32",
    .inputs = "x, y, x_zero?, y_zero?",
    .promote = SP_PROMOTE_NONE,
    .dtypes = SP_DT(I8) | SP_DT(U8),
    .infer = matmul_i32_infer,
    .reference = matmul_i32_reference,
    .strided = true,
    .no_vjp = "integer result",
    .onnx = "MatMulInteger",
    .doc =
        "Matrix product of int8 or uint8, less their zero points (one, or one for each column of y), summed in int32.",
    .samples =
        "[3,4] [4,5] _ _; [3,4] [4,5]u _ _; [3,70]u [70,5] _ _; [3,4] [4,5] [] []; [3,4]u [4,5]u []u [5]u; [3,4] [4,5] _ [5]; "
        "[4] [4] [1] _; [4] [4,3] [] [3]; [3,4] [4]u [] []u; [2,3,4] [4,5] [] [5]; [2,1,3,4] [5,4,2] [] _; [2,3,4] [2,4,5]u _ []u",
};
