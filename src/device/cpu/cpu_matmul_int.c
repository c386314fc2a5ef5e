/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_matmul_int.c - matmul of integers, which wrap, so that any order of summation gives the same bits.
 *
 * The result is cut into blocks that stay in the first cache; into each go the products of BLOCK_K rows of B at a time, four of them in
 * one sweep over the block. B is read along its rows; one that lies the other way is copied first. Signed and unsigned wrap alike: there
 * is one loop for each size of element. */
#include "base/wide.h"
#include "device/cpu/cpu_kernels.h"
#include "ir/matmul_geometry.h"
#include "spore/ops_attrs.h"

enum { BLOCK_M = 16, BLOCK_N = 256, BLOCK_K = 256, NARROW = 4, GRAIN = 65536 };

typedef struct int_job {
    sp__matmul_geometry g;
    const char *a, *b;
    char *c;
    int64_t blocks_m, blocks_n;
} int_job;

/* W: in which numbers are multiplied, so that no product is of a signed int. */
#define INT_LOOPS(T, W)                                                                                                \
    static inline void sweep_##T(int64_t n, T *restrict c, const T *restrict b, int64_t row, W a0, W a1, W a2, W a3)   \
    {                                                                                                                  \
        const T *restrict b1 = b + row, *restrict b2 = b1 + row, *restrict b3 = b2 + row;                              \
        for (int64_t j = 0; j < n; j++) c[j] = (T)(c[j] + a0 * b[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j]);           \
    }                                                                                                                  \
    static inline void sweep_one_##T(int64_t n, T *restrict c, const T *restrict b, W a)                               \
    {                                                                                                                  \
        for (int64_t j = 0; j < n; j++) c[j] = (T)(c[j] + a * b[j]);                                                   \
    }                                                                                                                  \
    static void blocks_##T(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const int_job *job = context;                                                                                  \
        const sp__matmul_geometry *g = &job->g;                                                                        \
        const int64_t per_item = job->blocks_m * job->blocks_n, a_col = g->a_col, b_row = g->b_row, k = g->k;          \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            int64_t item = u / per_item, at = u % per_item, i0 = at / job->blocks_n * BLOCK_M,                         \
                    j0 = at % job->blocks_n * BLOCK_N;                                                                 \
            int64_t i1 = i0 + BLOCK_M < g->m ? i0 + BLOCK_M : g->m, n = g->n - j0 < BLOCK_N ? g->n - j0 : BLOCK_N,     \
                    a_at, b_at;                                                                                        \
            sp__matmul_offsets(g, item, &a_at, &b_at);                                                                 \
            const T *a = (const T *)(const void *)job->a + a_at, *b = (const T *)(const void *)job->b + b_at + j0;     \
            T *c = (T *)(void *)job->c + item * g->m * g->n + j0;                                                      \
            for (int64_t i = i0; i < i1; i++) memset(c + i * g->n, 0, (size_t)n * sizeof(T));                          \
            for (int64_t p0 = 0; p0 < k; p0 += BLOCK_K)                                                                \
                for (int64_t i = i0; i < i1; i++) {                                                                    \
                    const T *row = a + i * g->a_row;                                                                   \
                    int64_t p = p0, last = k - p0 < BLOCK_K ? k : p0 + BLOCK_K;                                        \
                    for (; p + 4 <= last; p += 4)                                                                      \
                        sweep_##T(n, c + i * g->n, b + p * b_row, b_row, row[p * a_col], row[(p + 1) * a_col],         \
                                  row[(p + 2) * a_col], row[(p + 3) * a_col]);                                         \
                    for (; p < last; p++) sweep_one_##T(n, c + i * g->n, b + p * b_row, row[p * a_col]);               \
                }                                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    SP_WIDE(blocks_##T)
INT_LOOPS(uint8_t, uint32_t)
INT_LOOPS(uint16_t, uint32_t)
INT_LOOPS(uint32_t, uint32_t)
INT_LOOPS(uint64_t, uint64_t)

static sp__part_fn blocks_of(size_t element)
{
    switch (element) {
    case 1: return SP_WIDEST(blocks_uint8_t);
    case 2: return SP_WIDEST(blocks_uint16_t);
    case 4: return SP_WIDEST(blocks_uint32_t);
    default: return SP_WIDEST(blocks_uint64_t);
    }
}

static sp_status plan(const sp_tensor *a, const sp_tensor *b, const sp_matmul_attrs *attrs, sp__matmul_geometry *g)
{
    SP_TRY(sp__matmul_measure(a, b, attrs, g));
    if (g->n_batch > 1 && sp__matmul_is_tall(g)) {
        g->m *= g->n_batch;
        g->n_batch = 1;
        g->batch_rank = 0;
    }
    return SP_OK;
}

/* Few columns are no rows to sweep over. */
bool sp__cpu_matmul_int_takes(const sp_call *c)
{
    sp__matmul_geometry g;
    char kind = sp_dtype_kind((sp_dtype)c->in[0]->dtype);
    return (kind == 'i' || kind == 'u') && plan(c->in[0], c->in[1], c->attrs, &g) == SP_OK && g.n >= NARROW;
}

size_t sp__cpu_matmul_int_work(const sp_call *c)
{
    sp__matmul_geometry g;
    if (plan(c->in[0], c->in[1], c->attrs, &g) != SP_OK || g.b_col == 1) return 0;
    return (size_t)c->in[1]->count * sp_dtype_bytes((sp_dtype)c->in[1]->dtype);
}

/* All of B with its columns side by side. */
static sp_status turn(const sp_call *c, const sp_matmul_attrs *attrs, sp_tensor *b)
{
    sp_tensor in = *c->in[1];
    if (attrs->transpose_b && in.rank > 1) {
        int64_t dim = in.dims[in.rank - 1], step = in.strides[in.rank - 1];
        in.dims[in.rank - 1] = in.dims[in.rank - 2];
        in.strides[in.rank - 1] = in.strides[in.rank - 2];
        in.dims[in.rank - 2] = dim;
        in.strides[in.rank - 2] = step;
    }
    *b = in;
    b->data = c->work;
    sp__shape_strides(b->rank, b->dims, b->strides);
    const sp_tensor *operands[2] = {b, &in};
    sp_loop loop;
    sp__loop_init(&loop, in.rank, in.dims, 2, operands);
    return sp__loop_run(&loop, sp__cast_loop((sp_dtype)in.dtype, (sp_dtype)in.dtype), NULL, 16);
}

sp_status sp__cpu_matmul_int(const sp_call *c)
{
    const size_t element = sp_dtype_bytes((sp_dtype)c->in[0]->dtype);
    sp_matmul_attrs attrs = *(const sp_matmul_attrs *)c->attrs;
    int_job job = {.a = c->in[0]->data, .b = c->in[1]->data, .c = c->out[0]->data};
    sp__matmul_geometry *g = &job.g;
    SP_TRY(plan(c->in[0], c->in[1], &attrs, g));
    if (c->out[0]->count == 0) return SP_OK;
    if (g->b_col != 1) {
        sp_tensor turned;
        SP_TRY(turn(c, &attrs, &turned));
        attrs.transpose_b = false;
        SP_TRY(plan(c->in[0], &turned, &attrs, g));
        job.b = turned.data;
    }
    job.blocks_m = (g->m + BLOCK_M - 1) / BLOCK_M;
    job.blocks_n = (g->n + BLOCK_N - 1) / BLOCK_N;
    int64_t block = BLOCK_M * (g->n < BLOCK_N ? g->n : BLOCK_N) * (g->k + 1);
    return sp__parallel_for(g->n_batch * job.blocks_m * job.blocks_n, block > GRAIN ? 1 : GRAIN / block,
                            blocks_of(element), &job);
}
