/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - matrix products: CLBlast where it is installed and has the type, else our own kernel. */
#include <string.h>

#include "product.h"

/* --- our own kernel ---------------------------------------------------------------------------------------------- */

enum { GROUP_M = 8, GROUP_N = 8, GROUP_TM = 4, GROUP_TN = 4, CPU_TN = 16 };

static int rows_of_tile(int64_t m) { return m >= 12 ? 12 : m >= 4 ? 4 : 1; }

void ocl_tiles_add(ocl_device *d, ocl_text *t, sp_dtype dtype, int64_t m)
{
    ocl_add(t, "#define TM %d\n#define TN %d\n#define GM %d\n#define GN %d\n", d->cpu ? rows_of_tile(m) : GROUP_TM,
            d->cpu ? CPU_TN : GROUP_TN, GROUP_M, GROUP_N);
    ocl_add(t, "#define mad_(a, b, c) %s\n", ocl_is_float(dtype) ? "fma(a, b, c)" : "((a) * (b) + (c))");
}

const char *ocl_tiles_kernel(const ocl_device *d) { return d->cpu ? "tiles" : "groups"; }

sp_status ocl_tiles_run(ocl_launch *l, int64_t m, int64_t n, int64_t batch)
{
    if (l->d->cpu) {
        const int tm = rows_of_tile(m);
        const size_t global[3] = {(size_t)((m + tm - 1) / tm), (size_t)((n + CPU_TN - 1) / CPU_TN), (size_t)batch},
                     group[3] = {1, 1, 1};
        return ocl_run(l, 3, global, group);
    }
    const size_t global[3] = {(size_t)((m + GROUP_TM - 1) / GROUP_TM), (size_t)((n + GROUP_TN - 1) / GROUP_TN),
                              (size_t)batch},
                 group[3] = {GROUP_M, GROUP_N, 1};
    return ocl_run(l, 3, global, group);
}

static sp_status multiply_here(ocl_device *d, const char *op, const ocl_product *p)
{
    ocl_text t = {NULL};
    ocl_add_dtype(&t, "", p->dtype);
    ocl_tiles_add(d, &t, p->dtype, p->m);
    ocl_add(&t,
            "#define PARAMETERS , __global const T *a, const ulong a_at, __global const T *b, const ulong b_at, "
            "__global T *c, const ulong c_at, const int lda, const int ldb, const int ldc, const long a_step, const "
            "long b_step, const long c_step, const float beta\n"
            "#define BATCH a += a_at + get_global_id(2) * a_step; b += b_at + get_global_id(2) * b_step; c += c_at + "
            "get_global_id(2) * c_step;\n"
            "#define COLUMNS int column[TN];\n#define COLUMN(n) column[q] = n;\n#define K_STEP(k)\n");
    ocl_add(&t, p->transpose_a ? "#define A_AT(m, k) LD(a, (long)(k) * lda + (m))\n"
                               : "#define A_AT(m, k) LD(a, (long)(m) * lda + (k))\n");
    ocl_add(&t, p->transpose_b ? "#define B_AT(q) LD(b, (long)column[q] * ldb + k)\n"
                               : "#define B_AT(q) LD(b, (long)k * ldb + column[q])\n");
    if (!p->transpose_b && p->dtype == SP_DTYPE_F32) ocl_add(&t, "#define B_ROW V_LOAD(0, b + (long)k * ldb + n0)\n");
    ocl_add(&t, "#define PUT(m, q, v) { const long at = (long)(m) * ldc + column[q]; ST(c, at, %s); }\n",
            p->beta != 0 ? "v + beta * LD(c, at)" : "v");
    ocl_launch l;
    SP_TRY(ocl_begin(d, op, "product", ocl_tiles_kernel(d), &t, &l));
    ocl_arg_int(&l, p->m);
    ocl_arg_int(&l, p->n);
    ocl_arg_int(&l, p->k);
    ocl_arg_memory(&l, p->a, p->a_at);
    ocl_arg_memory(&l, p->b, p->b_at);
    ocl_arg_memory(&l, p->c, p->c_at);
    ocl_arg_int(&l, p->lda);
    ocl_arg_int(&l, p->ldb);
    ocl_arg_int(&l, p->ldc);
    const cl_long steps[3] = {p->a_step, p->b_step, p->c_step};
    for (int i = 0; i < 3; i++) ocl_arg(&l, sizeof steps[i], &steps[i]);
    ocl_arg_float(&l, p->beta);
    return ocl_tiles_run(&l, p->m, p->n, p->batch);
}

/* --- CLBlast ----------------------------------------------------------------------------------------------------- */

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

#define GEMM(name, T)                                                                                                  \
    typedef int name(int layout, int a_transposed, int b_transposed, size_t m, size_t n, size_t k, T alpha, cl_mem a,  \
                     size_t a_at, size_t lda, cl_mem b, size_t b_at, size_t ldb, T beta, cl_mem c, size_t c_at,        \
                     size_t ldc, cl_command_queue *queue, cl_event *event);                                            \
    typedef int name##_batched(int layout, int a_transposed, int b_transposed, size_t m, size_t n, size_t k, T alpha,  \
                               cl_mem a, size_t a_at, size_t lda, size_t a_step, cl_mem b, size_t b_at, size_t ldb,    \
                               size_t b_step, T beta, cl_mem c, size_t c_at, size_t ldc, size_t c_step, size_t batch,  \
                               cl_command_queue *queue, cl_event *event);
GEMM(gemm_f, float)
GEMM(gemm_d, double)

#define SIZES                                                                                                          \
    ROW_MAJOR, p->transpose_a ? TRANSPOSED : AS_IT_IS, p->transpose_b ? TRANSPOSED : AS_IT_IS, (size_t)p->m,           \
        (size_t)p->n, (size_t)p->k
#define CALL(type, T, symbol)                                                                                          \
    {                                                                                                                  \
        type *one;                                                                                                     \
        type##_batched *many;                                                                                          \
        memcpy(&one, &symbol, sizeof one);                                                                             \
        memcpy(&many, &symbol, sizeof many);                                                                           \
        if (p->batch == 1)                                                                                             \
            code = one(SIZES, 1, p->a, (size_t)p->a_at, (size_t)p->lda, p->b, (size_t)p->b_at, (size_t)p->ldb,         \
                       (T)p->beta, p->c, (size_t)p->c_at, (size_t)p->ldc, &d->queue, NULL);                            \
        else                                                                                                           \
            code = many(SIZES, 1, p->a, (size_t)p->a_at, (size_t)p->lda, (size_t)p->a_step, p->b, (size_t)p->b_at,     \
                        (size_t)p->ldb, (size_t)p->b_step, (T)p->beta, p->c, (size_t)p->c_at, (size_t)p->ldc,          \
                        (size_t)p->c_step, (size_t)p->batch, &d->queue, NULL);                                         \
    }

sp_status ocl_multiply(ocl_device *d, const char *op, const ocl_product *p)
{
    if (p->m == 0 || p->n == 0 || p->batch == 0) return SP_OK;
    static const char *const names[2][2] = {{"CLBlastSgemm", "CLBlastSgemmStridedBatched"},
                                            {"CLBlastDgemm", "CLBlastDgemmStridedBatched"}};
    const bool twice = p->dtype == SP_DTYPE_F64;
    void *symbol = (twice || p->dtype == SP_DTYPE_F32) && p->k > 0 ? ocl_clblast(names[twice][p->batch > 1]) : NULL;
    if (!symbol) return multiply_here(d, op, p);
    int code;
    pthread_mutex_lock(&d->lock);
    if (twice) CALL(gemm_d, double, symbol)
    else CALL(gemm_f, float, symbol)
    pthread_mutex_unlock(&d->lock);
    if (code != 0) return ocl_failf(SP_RUNTIME, "%s: CLBlast failed with code %d", op, code);
    return SP_OK;
}

/* --- matmul ------------------------------------------------------------------------------------------------------ */

/* Rows and columns of an operand as the product sees it, after its transposition. */
typedef struct matrix {
    int64_t rows, columns, row, column;
    int batch_rank;
} matrix;

static matrix matrix_of(const sp_device_operand *o, bool transposed, bool left)
{
    const int r = o->rank;
    if (r == 1) {
        if (left) return (matrix){1, o->dims[0], 0, o->strides[0], 0};
        return (matrix){o->dims[0], 1, o->strides[0], 1, 0};
    }
    const matrix m = {o->dims[r - 2], o->dims[r - 1], o->strides[r - 2], o->strides[r - 1], r - 2};
    return transposed ? (matrix){m.columns, m.rows, m.column, m.row, r - 2} : m;
}

/* How far apart rows are, and whether it lies transposed; false: neither rows nor columns are pieces of memory. */
static bool lies(const matrix *m, int64_t *ld, bool *transposed)
{
    const bool straight = (m->column == 1 || m->columns == 1) && (m->rows == 1 || m->row >= m->columns);
    const bool turned = (m->row == 1 || m->rows == 1) && (m->columns == 1 || m->column >= m->rows);
    *transposed = !straight;
    *ld = straight ? (m->rows == 1 ? m->columns : m->row) : m->columns == 1 ? m->rows : m->column;
    return straight || turned;
}

typedef struct plan {
    ocl_product p;
    ocl_shape batch; /* operands: a, b */
} plan;

static bool make_plan(const sp_device_call *c, plan *out)
{
    const sp_device_operand *a = &c->in[0], *b = &c->in[1], *o = &c->out[0];
    matrix x = matrix_of(a, ocl_bool(c, "transpose_a", false), true);
    const matrix y = matrix_of(b, ocl_bool(c, "transpose_b", false), false);
    const int batch_rank = o->rank - (a->rank > 1) - (b->rank > 1);
    ocl_shape_start(&out->batch, batch_rank, o->dims);
    ocl_shape_add(&out->batch, x.batch_rank, a->dims, a->strides);
    ocl_shape_add(&out->batch, y.batch_rank, b->dims, b->strides);
    ocl_shape_merge(&out->batch);
    ocl_shape *s = &out->batch;
    /* Rows of all samples by one matrix: one product. */
    if (s->rank == 1 && s->strides[1][0] == 0 && s->strides[0][0] == x.rows * x.row && x.column == 1) {
        x.rows *= s->dims[0];
        ocl_shape_start(s, 0, NULL);
    }
    ocl_product *p = &out->p;
    *p = (ocl_product){.dtype = a->dtype, .m = x.rows, .n = y.columns, .k = x.columns, .ldc = y.columns, .batch = 1};
    if (!lies(&x, &p->lda, &p->transpose_a) || !lies(&y, &p->ldb, &p->transpose_b)) return false;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < s->rank; i++)
            if (s->strides[k][i] < 0) return false;
    return p->m <= INT32_MAX && p->n <= INT32_MAX && p->k <= INT32_MAX;
}

bool ocl_matmul_takes(void *device, const sp_device_call *c)
{
    const sp_dtype t = c->in[0].dtype;
    plan p;
    return ocl_computes(device, t) && ocl_is_float(t) && c->in[1].dtype == t && make_plan(c, &p);
}

sp_status ocl_matmul_run(void *device, const sp_device_call *c)
{
    plan it;
    if (!make_plan(c, &it)) return SP_DECLINED;
    ocl_product *p = &it.p;
    const ocl_shape *s = &it.batch;
    const int last = s->rank - 1;
    p->a = c->in[0].buffer, p->b = c->in[1].buffer, p->c = c->out[0].buffer;
    p->c_step = p->m * p->n;
    if (last >= 0) {
        p->batch = s->dims[last];
        p->a_step = s->strides[0][last];
        p->b_step = s->strides[1][last];
    }
    const int64_t turns = p->batch ? s->count / p->batch : 0;
    for (int64_t turn = 0; turn < turns; turn++) {
        int64_t rest = turn, a_at = 0, b_at = 0;
        for (int i = last - 1; i >= 0; i--) {
            a_at += rest % s->dims[i] * s->strides[0][i];
            b_at += rest % s->dims[i] * s->strides[1][i];
            rest /= s->dims[i];
        }
        p->a_at = ocl_at(&c->in[0]) + a_at;
        p->b_at = ocl_at(&c->in[1]) + b_at;
        p->c_at = ocl_at(&c->out[0]) + turn * p->batch * p->c_step;
        SP_TRY(ocl_multiply(device, c->op, p));
    }
    return SP_OK;
}
