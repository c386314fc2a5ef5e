/* SPDX-License-Identifier: Apache-2.0 */
/* twice.c - a provider of kernels: products of small float32 matrices, and a relu that counts its calls.
 *
 * Built as a shared library; it needs the headers of spore and nothing else:
 *     cc -shared -fPIC -o twice.so twice.c $(pkg-config --cflags spore)
 * Then: SPORE_PROVIDERS=./twice.so python train.py */
#include <spore/provider.h>

static const sp_provider_host *host;
int64_t twice_calls(void); /* for provider.c: how often a kernel of this library ran */
static _Atomic int64_t calls;
__attribute__((visibility("default"))) int64_t twice_calls(void) { return calls; }

/* relu: float32 only, and elements are shared among the engine's threads. */
static bool relu_takes(const sp_provider_call *c) { return c->in[0].dtype == SP_DTYPE_F32; }

static int64_t count_of(const sp_provider_operand *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->dims[i];
    return n;
}

static void relu_part(void *context, int64_t begin, int64_t end)
{
    const sp_provider_call *c = context;
    const float *x = c->in[0].data;
    float *y = c->out[0].data;
    for (int64_t i = begin; i < end; i++)
        y[i] = x[i] > 0 ? x[i] : x[i] < 0 ? 0 : x[i]; /* NaN and -0 stay what they are */
}

static sp_status relu_run(const sp_provider_call *c)
{
    calls++;
    return host->parallel_for(count_of(&c->in[0]), 1 << 16, relu_part, (void *)(uintptr_t)c);
}

/* matmul: two small matrices, neither transposed. What does not fit is left to the engine. */
static bool matmul_takes(const sp_provider_call *c)
{
    const bool *a = sp_provider_attr(c, "transpose_a"), *b = sp_provider_attr(c, "transpose_b");
    return c->in[0].dtype == SP_DTYPE_F32 && c->in[0].rank == 2 && c->in[1].rank == 2 && a && b && !*a && !*b &&
           count_of(&c->out[0]) <= 64;
}

static size_t matmul_work(const sp_provider_call *c) { return (size_t)c->out[0].dims[1] * sizeof(double); }

static sp_status matmul_run(const sp_provider_call *c)
{
    const float *a = c->in[0].data, *b = c->in[1].data;
    float *out = c->out[0].data;
    double *sums = c->work;
    int64_t m = c->out[0].dims[0], n = c->out[0].dims[1], k = c->in[0].dims[1];
    if (k == 0) return SP_DECLINED; /* a kernel may also find out late: nothing is written yet */
    calls++;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) sums[j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++) sums[j] += (double)a[i * k + p] * (double)b[p * n + j];
        for (int64_t j = 0; j < n; j++) out[i * n + j] = (float)sums[j];
    }
    return SP_OK;
}

static const sp_provider_kernel kernels[] = {
    {.op = "relu", .name = "twice_relu", .takes = relu_takes, .run = relu_run},
    {.op = "matmul", .name = "twice_small", .takes = matmul_takes, .workspace = matmul_work, .run = matmul_run},
};
static const sp_provider provider = {.struct_size = sizeof provider,
                                     .version = SP_PROVIDER_VERSION,
                                     .name = "twice",
                                     .n_kernels = sizeof kernels / sizeof *kernels,
                                     .kernels = kernels};

sp_provider_open_fn sp_provider_open;
__attribute__((visibility("default"))) const sp_provider *sp_provider_open(const sp_provider_host *given)
{
    if (given->struct_size < sizeof *given) return NULL;
    host = given;
    return &provider;
}
