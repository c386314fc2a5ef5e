/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_norm.c - layer and root-mean-square normalisation over rows.h, forward and backward.
 *
 * A row is one thread's work. The gradients of gamma and beta are summed per chunk of rows in float and over the chunks in double;
 * chunks depend on the shape only. Rows of float16 and bfloat16 are widened one by one, computed in float32 and rounded once. Parameters that
 * are repeated inside a row, or of another dtype than x, are left to the reference. */
#include "base/scratch.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/rows.h"
#include "spore/ops_attrs.h"

enum {
    CHUNKS_MAX = 64,
    PART = 16384 /* elements that are worth a thread */,
    WIDE_MOST = 4096 /* elements of a row that is widened */
};

typedef struct {
    const sp__row_kernels *k;
    int64_t rows, n, chunk;
    bool center;
    double epsilon;
    const float *x, *g, *gamma, *beta;
    float *out, *mean, *variance, *partial; /* partial: chunks x (dgamma, dbeta) */
    float *dgamma, *dbeta;
    sp_dtype dtype; /* half precision: x, g, gamma, beta and what comes out hold that */
} norm_job;

static float *floats(const sp_tensor *t) { return t ? (float *)(void *)t->data : NULL; }

static int64_t elements_from(const sp_tensor *x, int64_t axis)
{
    int64_t n = 1;
    for (int i = (int)(axis < 0 ? axis + x->rank : axis); i < x->rank; i++) n *= x->dims[i];
    return n;
}

/* Shape and attributes; false: not for these kernels. in[2] of the gradients is dout. */
static bool measure(const sp_call *c, norm_job *j)
{
    const sp_tensor *x = c->in[0];
    j->center = c->op->family == SP_FAMILY_LAYER_NORM;
    if (j->center) {
        const sp_layer_norm_attrs *a = c->attrs;
        j->n = elements_from(x, a->begin_norm_axis);
        j->epsilon = a->epsilon;
        if (elements_from(x, a->begin_params_axis) != j->n) return false;
    } else {
        j->n = c->in[1]->count;
        j->epsilon = ((const sp_rms_norm_attrs *)c->attrs)->epsilon;
    }
    j->dtype = (sp_dtype)x->dtype;
    for (int i = 1; i < c->n_in; i++)
        if (c->in[i] && c->in[i]->dtype != x->dtype) return false;
    if (x->count == 0 || j->n == 0) return false;
    if (j->dtype != SP_DTYPE_F32 && ((j->dtype != SP_DTYPE_F16 && j->dtype != SP_DTYPE_BF16) || j->n > WIDE_MOST))
        return false;
    j->rows = x->count / j->n;
    const int64_t least = PART / j->n > 0 ? PART / j->n : 1, chunk = (j->rows + CHUNKS_MAX - 1) / CHUNKS_MAX;
    j->chunk = chunk > least ? chunk : least;
    return true;
}

static void forward(void *context, int64_t begin, int64_t end)
{
    const norm_job *j = context;
    for (int64_t r = begin; r < end; r++) {
        float m[3];
        j->k->norm(j->n, j->out + r * j->n, j->x + r * j->n, j->gamma, j->beta, j->center, j->epsilon, m);
        if (j->mean) j->mean[r] = m[0];
        j->variance[r] = j->center ? m[1] : m[2];
    }
}

/* Row r of half-precision numbers as floats; NULL stays NULL. */
static const float *widened(const norm_job *j, const float *from, int64_t r, float *room)
{
    if (from) sp__cpu_convert(j->dtype, SP_DTYPE_F32, j->n, room, (const char *)from + r * j->n * 2);
    return from ? room : NULL;
}

static void forward_half(void *context, int64_t begin, int64_t end)
{
    const norm_job *j = context;
    float *const x = sp__scratch_take(3 * WIDE_MOST * sizeof *x), *const gamma_room = x + WIDE_MOST,
                 *const beta_room = gamma_room + WIDE_MOST;
    const float *gamma = widened(j, j->gamma, 0, gamma_room), *beta = widened(j, j->beta, 0, beta_room);
    for (int64_t r = begin; r < end; r++) {
        float m[3];
        widened(j, j->x, r, x);
        j->k->norm(j->n, x, x, gamma, beta, j->center, j->epsilon, m);
        sp__cpu_convert(SP_DTYPE_F32, j->dtype, j->n, (char *)j->out + r * j->n * 2, x);
        if (j->mean) sp__cpu_convert(SP_DTYPE_F32, j->dtype, 1, (char *)j->mean + r * 2, &m[0]);
        sp__cpu_convert(SP_DTYPE_F32, j->dtype, 1, (char *)j->variance + r * 2, &m[j->center ? 1 : 2]);
    }
    sp__scratch_give(x);
}

static void backward_half(void *context, int64_t begin, int64_t end)
{
    const norm_job *j = context;
    float *const x = sp__scratch_take(3 * WIDE_MOST * sizeof *x), *const g = x + WIDE_MOST,
                 *const gamma_room = g + WIDE_MOST;
    const float *gamma = widened(j, j->gamma, 0, gamma_room);
    for (int64_t chunk = begin; chunk < end; chunk++) {
        float *dgamma = j->partial + chunk * 2 * j->n, *dbeta = dgamma + j->n;
        memset(dgamma, 0, (size_t)j->n * 2 * sizeof(float));
        const int64_t stop = (chunk + 1) * j->chunk < j->rows ? (chunk + 1) * j->chunk : j->rows;
        for (int64_t r = chunk * j->chunk; r < stop; r++) {
            widened(j, j->x, r, x);
            widened(j, j->g, r, g);
            j->k->norm_grad(j->n, x, x, g, gamma, j->center, j->epsilon, dgamma, dbeta);
            sp__cpu_convert(SP_DTYPE_F32, j->dtype, j->n, (char *)j->out + r * j->n * 2, x);
        }
    }
    sp__scratch_give(x);
}

static void backward(void *context, int64_t begin, int64_t end)
{
    const norm_job *j = context;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        float *dgamma = j->partial + chunk * 2 * j->n, *dbeta = dgamma + j->n;
        memset(dgamma, 0, (size_t)j->n * 2 * sizeof(float));
        const int64_t stop = (chunk + 1) * j->chunk < j->rows ? (chunk + 1) * j->chunk : j->rows;
        for (int64_t r = chunk * j->chunk; r < stop; r++)
            j->k->norm_grad(j->n, j->out + r * j->n, j->x + r * j->n, j->g + r * j->n, j->gamma, j->center, j->epsilon,
                            dgamma, dbeta);
    }
}

static void add_chunks(void *context, int64_t begin, int64_t end)
{
    const norm_job *j = context;
    const int64_t chunks = (j->rows + j->chunk - 1) / j->chunk;
    for (int64_t i = begin; i < end; i++) {
        double dgamma = 0, dbeta = 0;
        for (int64_t k = 0; k < chunks; k++) {
            dgamma += (double)j->partial[k * 2 * j->n + i];
            dbeta += (double)j->partial[(k * 2 + 1) * j->n + i];
        }
        const float both[2] = {(float)dgamma, (float)dbeta};
        const int64_t size = (int64_t)sp_dtype_bytes(j->dtype);
        sp__cpu_convert(SP_DTYPE_F32, j->dtype, 1, (char *)j->dgamma + i * size, &both[0]);
        if (j->dbeta) sp__cpu_convert(SP_DTYPE_F32, j->dtype, 1, (char *)j->dbeta + i * size, &both[1]);
    }
}

bool sp__cpu_norm_takes(const sp_call *c)
{
    norm_job j;
    return measure(c, &j);
}

size_t sp__cpu_norm_work(const sp_call *c)
{
    (void)c;
    return 0;
}

size_t sp__cpu_norm_grad_work(const sp_call *c)
{
    norm_job j;
    return measure(c, &j) ? (size_t)((j.rows + j.chunk - 1) / j.chunk * 2 * j.n) * sizeof(float) : 0;
}

sp_status sp__cpu_norm(const sp_call *c)
{
    norm_job j = {.k = sp__float_rows(),
                  .x = floats(c->in[0]),
                  .gamma = floats(c->in[1]),
                  .out = floats(c->out[0]),
                  .beta = c->n_in > 2 ? floats(c->in[2]) : NULL,
                  .mean = c->n_out > 2 ? floats(c->out[1]) : NULL,
                  .variance = floats(c->out[c->n_out - 1])};
    measure(c, &j);
    return sp__parallel_for(j.rows, PART / j.n > 0 ? PART / j.n : 1, j.dtype == SP_DTYPE_F32 ? forward : forward_half,
                            &j);
}

sp_status sp__cpu_norm_grad(const sp_call *c)
{
    norm_job j = {.k = sp__float_rows(),
                  .x = floats(c->in[0]),
                  .gamma = floats(c->in[1]),
                  .g = floats(c->in[2]),
                  .out = floats(c->out[0]),
                  .dgamma = floats(c->out[1]),
                  .dbeta = c->n_out > 2 ? floats(c->out[2]) : NULL,
                  .partial = c->work};
    measure(c, &j);
    SP_TRY(
        sp__parallel_for((j.rows + j.chunk - 1) / j.chunk, 1, j.dtype == SP_DTYPE_F32 ? backward : backward_half, &j));
    return sp__parallel_for(j.n, 4096, add_chunks, &j);
}
