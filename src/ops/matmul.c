/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c - the matrix product with numpy's rules: vectors, matrices, and batches of matrices that broadcast.
 *
 * float16 and bfloat16 are summed in float and rounded once; float32 is summed in double here, because this kernel judges
 * the fast ones. Integers wrap. */
#include "ir/matmul_geometry.h"
#include "ops/kernels.h"

SP_ATTR_TABLE(matmul_attr_table, sp_matmul_attrs, (BOOL, transpose_a, False), (BOOL, transpose_b, False));

static sp_status matmul_infer(const sp_call *c, sp_meta *out)
{
    sp__matmul_geometry g;
    SP_TRY(sp__matmul_measure(c->in[0], c->in[1], c->attrs, &g));
    out->dtype = (sp_dtype)c->in[0]->dtype;
    out->rank = 0;
    int matrix = (c->in[0]->rank > 1) + (c->in[1]->rank > 1);
    SP_CHECK(g.batch_rank + matrix <= SP_RANK_MAX, SP_VALUE, "matmul: the result would have more than %d dimensions",
             SP_RANK_MAX);
    for (int i = 0; i < g.batch_rank; i++) out->dims[out->rank++] = g.batch[i];
    if (c->in[0]->rank > 1) out->dims[out->rank++] = g.m;
    if (c->in[1]->rank > 1) out->dims[out->rank++] = g.n;
    return SP_OK;
}

/* --- reference --------------------------------------------------------------------------------------------------- */

typedef struct {
    sp__matmul_geometry g;
    const void *a, *b;
    void *c;
} matmul_job;

#define MATMUL_ROWS(D, T, C, LOAD, STORE, SUM)                                                                         \
    static void matmul_rows_##D(void *context, int64_t begin, int64_t end)                                             \
    {                                                                                                                  \
        const matmul_job *job = context;                                                                               \
        const sp__matmul_geometry *g = &job->g;                                                                        \
        for (int64_t r = begin; r < end; r++) {                                                                        \
            int64_t a_at, b_at;                                                                                        \
            sp__matmul_offsets(g, r / g->m, &a_at, &b_at);                                                             \
            const T *a = (const T *)job->a + a_at + r % g->m * g->a_row, *b = (const T *)job->b + b_at;                \
            T *c = (T *)job->c + r * g->n;                                                                             \
            for (int64_t j = 0; j < g->n; j++) {                                                                       \
                SUM sum = 0;                                                                                           \
                for (int64_t p = 0; p < g->k; p++)                                                                     \
                    sum += (SUM)LOAD(a[p * g->a_col]) * (SUM)LOAD(b[p * g->b_row + j * g->b_col]);                     \
                c[j] = STORE(sum);                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
#define MATMUL_TO_F32(x) ((float)(x))
SP_EACH_HALF(MATMUL_ROWS, float)
MATMUL_ROWS(F32, float, float, SP_KEEP, MATMUL_TO_F32, double)
SP_EACH_DOUBLE(MATMUL_ROWS, double)
SP_EACH_INT(MATMUL_ROWS, uint64_t)
MATMUL_ROWS(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, sp_c64)
MATMUL_ROWS(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, sp_c128)

#define MATMUL_ROW(D, T, C, LOAD, STORE, SUM) [SP_DTYPE_##D] = matmul_rows_##D,
static void (*const matmul_loops[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {
    SP_EACH_FLOAT(MATMUL_ROW, ) SP_EACH_INT(MATMUL_ROW, ) SP_EACH_COMPLEX(MATMUL_ROW, )};

static sp_status matmul_reference(const sp_call *c)
{
    matmul_job job = {.a = c->in[0]->data, .b = c->in[1]->data, .c = c->out[0]->data};
    SP_TRY(sp__matmul_measure(c->in[0], c->in[1], c->attrs, &job.g));
    if (c->out[0]->count == 0) return SP_OK;
    int64_t row = job.g.n * job.g.k + 1, grain = row > 65536 ? 1 : 65536 / row;
    return sp__parallel_for(job.g.n_batch * job.g.m, grain, matmul_loops[c->in[0]->dtype], &job);
}

/* --- gradient ---------------------------------------------------------------------------------------------------- */

sp_tensor *sp_matmul(sp_builder *b, sp_tensor *x, sp_tensor *y, bool transpose_x, bool transpose_y)
{
    const sp_matmul_attrs attrs = {transpose_x, transpose_y};
    return sp_builder_apply(b, &sp_op_matmul, &attrs, 2, (sp_tensor *const[]){x, y});
}

/* t with its leading dimensions made one. */
static sp_tensor *fold_rows(sp_builder *b, sp_tensor *t)
{
    int64_t last = t->dims[t->rank - 1], rows = 1;
    for (int i = 0; i < t->rank - 1; i++) rows *= t->dims[i];
    return sp_reshape(b, t, 2, (const int64_t[]){rows, last});
}

/* With A' and B' for the operands after transposition, C = A' B' gives dA' = dC B'^T and dB' = A'^T dC; the flags of these
 * products undo the flags of the operator, so nothing is ever transposed in memory. Vectors become matrices first. */
static sp_status matmul_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_matmul_attrs *attrs = v->attrs;
    sp_tensor *x = v->in[0], *y = v->in[1], *g = v->dout[0];
    bool tx = attrs->transpose_a && x->rank > 1, ty = attrs->transpose_b && y->rank > 1;
    bool x_vector = x->rank == 1, y_vector = y->rank == 1;
    int64_t k = tx ? x->dims[x->rank - 2] : x->dims[x->rank - 1];
    int64_t m = x_vector ? 1 : x->dims[x->rank - (tx ? 1 : 2)], n = y_vector ? 1 : y->dims[y->rank - (ty ? 2 : 1)];
    if (x_vector || y_vector) {
        int64_t dims[SP_RANK_MAX + 2];
        int rank = 0, lead = g->rank - !x_vector - !y_vector;
        for (int i = 0; i < lead; i++) dims[rank++] = g->dims[i];
        dims[rank++] = m;
        dims[rank++] = n;
        SP_CHECK(rank <= SP_RANK_MAX, SP_VALUE, "matmul: the gradient would have more than %d dimensions", SP_RANK_MAX);
        g = sp_reshape(b, g, rank, dims);
        if (!g) return sp__builder_status(b);
    }
    if (v->needs[0]) {
        sp_tensor *other = y_vector ? sp_reshape(b, y, 2, (const int64_t[]){k, 1}) : y;
        other = sp__conj(b, other);
        sp_tensor *d = tx ? sp_matmul(b, other, g, ty, true) : sp_matmul(b, g, other, false, !ty);
        if (!d) return sp__builder_status(b);
        if (x_vector && d->rank == 2) { /* [1, k] */
            d = sp_reshape(b, d, 1, &k);
        } else if (x_vector) { /* [..., 1, k]: all but the last are to be summed */
            d = fold_rows(b, d);
            d = sp_reduce_sum(b, d, 1, (const int64_t[]){0}, false);
        } else {
            d = sp__unbroadcast(b, d, x);
        }
        v->din[0] = d;
    }
    if (v->needs[1]) {
        sp_tensor *other = x_vector ? sp_reshape(b, x, 2, (const int64_t[]){1, k}) : x, *d;
        other = sp__conj(b, other);
        if (!other) return sp__builder_status(b);
        if (y->rank <= 2 && other->rank > 2 && !tx) { /* one matrix for all items: sum over items inside the product */
            other = fold_rows(b, other);
            g = fold_rows(b, g);
        }
        d = ty ? sp_matmul(b, g, other, true, tx) : sp_matmul(b, other, g, !tx, false);
        if (!d) return sp__builder_status(b);
        if (y_vector && d->rank == 2) { /* [k, 1] */
            d = sp_reshape(b, d, 1, &k);
        } else if (y_vector) { /* [..., k, 1] */
            int64_t items = k ? d->count / k : 0;
            d = sp_reshape(b, d, 2, (const int64_t[]){k ? items : 1, k});
            d = sp_reduce_sum(b, d, 1, (const int64_t[]){0}, false);
        } else {
            d = sp__unbroadcast(b, d, y);
        }
        v->din[1] = d;
    }
    return sp__builder_status(b);
}

const sp_op sp_op_matmul = {
    .batch = sp__batch_matmul,
    .name = "matmul",
    .shard = "... i k, ... k j -> ... i j; swap 0 if transpose_a, swap 1 if transpose_b",
    .inputs = "x, y",
    SP_ATTRS(matmul_attr_table, sp_matmul_attrs),
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT_NUMBERS,
    .infer = matmul_infer,
    .reference = matmul_reference,
    .strided = true,
    .vjp = matmul_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_CROSS,
    .mindir = "MatMul",
    .onnx = "MatMul",
    .python = "ops.matmul(input, other); Tensor.matmul(tensor2); mint.matmul(input, other); ops.bmm(input_x, mat2); "
              "mint.bmm(input, mat2); Tensor.bmm(mat2); ops.mm(input, mat2); mint.mm(input, mat2); Tensor.mm(mat2); "
              "ops.MatMul(transpose_a=False, transpose_b=False)(x, y); "
              "ops.BatchMatMul(transpose_a=False, transpose_b=False)(x, y)",
    .doc = "Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast.",
    .samples =
        "[3,4] [4,5]; [4] [4]; [4] [4,3]; [3,4] [4]; [2,3,4] [4,5]; [2,1,3,4] [5,4,2]; [2,3,4] [4]; [4] [2,4,3]; "
        "[4,3] [5,4] transpose_a=True, transpose_b=True; [2,4,3] [4,5] transpose_a=True; [3,4] [2,5,4] transpose_b=True",
};

/* --- dense ------------------------------------------------------------------------------------------------------- */

/* The commonest mistake with layers, told in their words; whatever else does not fit is the product's to tell. */
static sp_status check_features(const sp_tensor *x, const sp_tensor *weight)
{
    if (x->rank == 0 || weight->rank != 2) return SP_OK;
    int64_t found = x->dims[x->rank - 1], wanted = weight->dims[1];
    char a[SP_SHAPE_TEXT], w[SP_SHAPE_TEXT];
    SP_CHECK(found < 0 || wanted < 0 || found == wanted, SP_VALUE,
             "the input has %lld features in its last dimension (shape %s), but the weight (shape %s) takes %lld",
             (long long)found, sp__shape_text(x->rank, x->dims, a), sp__shape_text(2, weight->dims, w),
             (long long)wanted);
    return SP_OK;
}

static sp_status dense_compose(sp_builder *b, const sp_call *c)
{
    SP_TRY(check_features(c->in[0], c->in[1]));
    sp_tensor *y = sp_matmul(b, c->in[0], c->in[1], false, true);
    if (c->in[2]) y = sp_add(b, y, c->in[2]);
    c->out[0] = y;
    return sp__builder_status(b);
}

const sp_op sp_op_dense = {
    .name = "dense",
    .inputs = "x, weight, bias?",
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT_NUMBERS,
    .compose = dense_compose,
    .mindir = "Dense",
    .onnx = "Gemm",
    .python = "ops.dense(input, weight, bias=None); ops.Dense()(x, w, b=None); "
              "mint.nn.functional.linear(input, weight, bias=None)",
    .doc = "x times the transposed weight, plus bias: a fully connected layer over the last dimension.",
    .samples = "[2,3] [4,3] [4]; [5,2,3] [4,3] [4]",
};
