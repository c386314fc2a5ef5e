/* SPDX-License-Identifier: Apache-2.0 */
/* onednn.c - oneDNN as a provider of kernels: products and 2D convolutions of float32. Never needed; one more yardstick.
 *
 * The library is opened at run time (SPORE_ONEDNN names another file than libdnnl.so.2), its own names stay local. It must have the major version
 * whose headers this was built with, since descriptors are structs, and may use AVX-512 with BF16 at most: its 2.6 dies of illegal
 * instructions when it may use AMX. It computes with its own threads (OMP_NUM_THREADS), one call at a time.
 *
 *     SPORE_PROVIDERS=.../onednn.so OMP_NUM_THREADS=2 make bench-peers */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <dnnl.h>
#include <spore/provider.h>

enum { KEPT = 64, KEY = 20 };

/* Functions of oneDNN that are used here. */
/* clang-format off */
#define FUNCTIONS(X)                                                                                                                       \
    X(dnnl_version) X(dnnl_set_max_cpu_isa) X(dnnl_engine_create) X(dnnl_stream_create) X(dnnl_memory_desc_init_by_strides)                 \
    X(dnnl_memory_desc_init_by_tag) X(dnnl_memory_desc_equal) X(dnnl_matmul_desc_init) X(dnnl_dilated_convolution_forward_desc_init)        \
    X(dnnl_primitive_desc_create) X(dnnl_primitive_desc_query_md) X(dnnl_primitive_desc_destroy) X(dnnl_primitive_create)                   \
    X(dnnl_primitive_destroy) X(dnnl_primitive_execute) X(dnnl_reorder_primitive_desc_create) X(dnnl_memory_create) X(dnnl_memory_destroy)  \
    X(dnnl_memory_set_data_handle) X(dnnl_stream_wait)
/* clang-format on */
#define X(name) static __typeof__(&name) p_##name;
FUNCTIONS(X)
#undef X

static const sp_provider_host *host;
static dnnl_engine_t engine;
static dnnl_stream_t stream;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* An operand: as the caller has it, and as the primitive wants it if that is another order. */
typedef struct {
    dnnl_memory_t given, own; /* own NULL: the same */
    dnnl_primitive_t reorder;
} side;

/* A primitive for one geometry. */
typedef struct {
    int64_t key[KEY];
    dnnl_primitive_t main;
    side sides[4];
    int n; /* inputs; the result is behind them */
} plan;
static plan plans[KEPT];
static int next_plan;

#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        if ((expr) != dnnl_success) return false;                                                                      \
    } while (0)

static void forget(plan *p)
{
    if (p->main) p_dnnl_primitive_destroy(p->main);
    for (int i = 0; i < 4; i++) {
        if (p->sides[i].given) p_dnnl_memory_destroy(p->sides[i].given);
        if (p->sides[i].own) p_dnnl_memory_destroy(p->sides[i].own);
        if (p->sides[i].reorder) p_dnnl_primitive_destroy(p->sides[i].reorder);
    }
    memset(p, 0, sizeof *p);
}

static bool make_side(side *s, const dnnl_memory_desc_t *given, const dnnl_memory_desc_t *wanted, bool result)
{
    TRY(p_dnnl_memory_create(&s->given, given, engine, DNNL_MEMORY_NONE));
    if (p_dnnl_memory_desc_equal(given, wanted)) return true;
    dnnl_primitive_desc_t pd;
    TRY(p_dnnl_memory_create(&s->own, wanted, engine, DNNL_MEMORY_ALLOCATE));
    TRY(p_dnnl_reorder_primitive_desc_create(&pd, result ? wanted : given, engine, result ? given : wanted, engine,
                                             NULL));
    dnnl_status_t made = p_dnnl_primitive_create(&s->reorder, pd);
    p_dnnl_primitive_desc_destroy(pd);
    return made == dnnl_success;
}

static bool reordered(const side *s, bool result)
{
    const dnnl_exec_arg_t args[2] = {{DNNL_ARG_FROM, result ? s->own : s->given},
                                     {DNNL_ARG_TO, result ? s->given : s->own}};
    return !s->own || p_dnnl_primitive_execute(s->reorder, stream, 2, args) == dnnl_success;
}

/* From a descriptor to a primitive and its operands; given[] has inputs, then the result. */
static bool make_plan(plan *p, const void *descriptor, int n, const dnnl_memory_desc_t *given)
{
    dnnl_primitive_desc_t pd;
    TRY(p_dnnl_primitive_desc_create(&pd, descriptor, NULL, engine, NULL));
    bool good = p_dnnl_primitive_create(&p->main, pd) == dnnl_success;
    p->n = n;
    for (int i = 0; good && i <= n; i++) {
        dnnl_query_t what = i == n ? dnnl_query_dst_md : i == 0 ? dnnl_query_src_md : dnnl_query_weights_md;
        const dnnl_memory_desc_t *wanted = p_dnnl_primitive_desc_query_md(pd, what, i == 2 && i < n ? 1 : 0);
        good = wanted && make_side(&p->sides[i], &given[i], wanted, i == n);
    }
    p_dnnl_primitive_desc_destroy(pd);
    return good;
}

static bool execute(plan *p, void *const *data)
{
    static const int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};
    dnnl_exec_arg_t args[4];
    for (int i = 0; i <= p->n; i++) {
        side *s = &p->sides[i];
        TRY(p_dnnl_memory_set_data_handle(s->given, data[i]));
        if (i < p->n && !reordered(s, false)) return false;
        args[i] = (dnnl_exec_arg_t){i == p->n ? DNNL_ARG_DST : names[i], s->own ? s->own : s->given};
    }
    TRY(p_dnnl_primitive_execute(p->main, stream, p->n + 1, args));
    return reordered(&p->sides[p->n], true) && p_dnnl_stream_wait(stream) == dnnl_success;
}

/* The plan of a key, or an empty place for it. With the lock. */
static plan *find(const int64_t *key, bool *is_new)
{
    for (int i = 0; i < KEPT; i++)
        if (plans[i].main && memcmp(plans[i].key, key, sizeof plans[i].key) == 0) return *is_new = false, &plans[i];
    plan *p = &plans[next_plan++ % KEPT];
    forget(p);
    memcpy(p->key, key, sizeof p->key);
    *is_new = true;
    return p;
}

static sp_status finish(plan *p, bool good)
{
    if (!good && p) forget(p);
    pthread_mutex_unlock(&lock);
    return good ? SP_OK : host->fail(SP_RUNTIME, "oneDNN could not compute this");
}

/* --- products ---------------------------------------------------------------------------------------------------- */

static bool is_true(const sp_provider_call *c, const char *name)
{
    const bool *v = sp_provider_attr(c, name);
    return v && *v;
}

static bool matmul_takes(const sp_provider_call *c)
{
    const sp_provider_operand *a = &c->in[0], *b = &c->in[1];
    return a->dtype == SP_DTYPE_F32 && a->rank == 2 && b->rank == 2 && a->dims[0] * a->dims[1] > 0 &&
           b->dims[0] * b->dims[1] > 0;
}

static bool matrix(dnnl_memory_desc_t *md, int64_t rows, int64_t columns, bool turned)
{
    const dnnl_dims_t dims = {rows, columns}, strides = {turned ? 1 : columns, turned ? rows : 1};
    return p_dnnl_memory_desc_init_by_strides(md, 2, dims, dnnl_f32, strides) == dnnl_success;
}

static sp_status matmul_run(const sp_provider_call *c)
{
    const bool turn_a = is_true(c, "transpose_a"), turn_b = is_true(c, "transpose_b");
    const int64_t m = c->out[0].dims[0], n = c->out[0].dims[1], k = c->in[0].dims[turn_a ? 0 : 1];
    const int64_t key[KEY] = {1, m, n, k, turn_a, turn_b};
    bool is_new, good = true;
    pthread_mutex_lock(&lock);
    plan *p = find(key, &is_new);
    if (is_new) {
        dnnl_memory_desc_t md[3];
        dnnl_matmul_desc_t d;
        good = matrix(&md[0], m, k, turn_a) && matrix(&md[1], k, n, turn_b) && matrix(&md[2], m, n, false) &&
               p_dnnl_matmul_desc_init(&d, &md[0], &md[1], NULL, &md[2]) == dnnl_success && make_plan(p, &d, 2, md);
    }
    void *data[3] = {c->in[0].data, c->in[1].data, c->out[0].data};
    return finish(p, good && execute(p, data));
}

/* --- convolution ------------------------------------------------------------------------------------------------- */

typedef struct {
    dnnl_dims_t stride, dilation, before, after;
} window;

static bool pair_of(const sp_provider_call *c, const char *name, dnnl_dims_t out)
{
    const sp_ints *v = sp_provider_attr(c, name);
    if (!v || (v->n != 1 && v->n != 2)) return false;
    out[0] = v->v[0];
    out[1] = v->v[v->n - 1];
    return true;
}

static bool measure(const sp_provider_call *c, window *w)
{
    const char *const *mode = sp_provider_attr(c, "pad_mode");
    const int64_t *group = sp_provider_attr(c, "group");
    const sp_ints *pad = sp_provider_attr(c, "pad");
    if (!mode || !*mode || !pad || !group || *group != 1 || !pair_of(c, "stride", w->stride) ||
        !pair_of(c, "dilation", w->dilation))
        return false;
    for (int d = 0; d < 2; d++) {
        w->dilation[d]--; /* oneDNN counts what lies between */
        w->before[d] = w->after[d] = 0;
        if (strcmp(*mode, "pad") == 0) {
            if (pad->n != 1 && pad->n != 2 && pad->n != 4) return false;
            w->before[d] = pad->v[pad->n == 4 ? 2 * d : pad->n == 2 ? d : 0];
            w->after[d] = pad->v[pad->n == 4 ? 2 * d + 1 : pad->n == 2 ? d : 0];
        } else if (strcmp(*mode, "valid") != 0) {
            return false;
        }
    }
    return true;
}

static bool conv_takes(const sp_provider_call *c)
{
    window w;
    int64_t n = 1;
    for (int d = 0; d < 4 && c->in[0].rank == 4; d++) n *= c->in[0].dims[d] * c->in[1].dims[d] * c->out[0].dims[d];
    return c->in[0].dtype == SP_DTYPE_F32 && c->in[0].rank == 4 && n > 0 && measure(c, &w);
}

static sp_status conv_run(const sp_provider_call *c)
{
    window w;
    const bool bias = c->n_in > 2 && c->in[2].rank >= 0;
    int64_t key[KEY] = {2, bias};
    if (!measure(c, &w)) return SP_DECLINED;
    for (int d = 0; d < 4; d++) key[2 + d] = c->in[0].dims[d], key[6 + d] = c->in[1].dims[d];
    for (int d = 0; d < 2; d++)
        key[10 + d] = w.stride[d], key[12 + d] = w.dilation[d], key[14 + d] = w.before[d], key[16 + d] = w.after[d];
    bool is_new, good = true;
    pthread_mutex_lock(&lock);
    plan *p = find(key, &is_new);
    if (is_new) {
        dnnl_memory_desc_t given[4], any[3];
        dnnl_convolution_desc_t d;
        const int64_t *dims[3] = {c->in[0].dims, c->in[1].dims, c->out[0].dims};
        const int place[3] = {0, 1, bias ? 3 : 2};
        for (int i = 0; i < 3; i++)
            good = good &&
                   p_dnnl_memory_desc_init_by_tag(&given[place[i]], 4, dims[i], dnnl_f32, dnnl_nchw) == dnnl_success &&
                   p_dnnl_memory_desc_init_by_tag(&any[i], 4, dims[i], dnnl_f32, dnnl_format_tag_any) == dnnl_success;
        if (bias)
            good =
                good && p_dnnl_memory_desc_init_by_tag(&given[2], 1, c->in[2].dims, dnnl_f32, dnnl_a) == dnnl_success;
        good = good &&
               p_dnnl_dilated_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct,
                                                            &any[0], &any[1], bias ? &given[2] : NULL, &any[2],
                                                            w.stride, w.dilation, w.before, w.after) == dnnl_success &&
               make_plan(p, &d, bias ? 3 : 2, given);
    }
    void *data[4] = {c->in[0].data, c->in[1].data, bias ? c->in[2].data : c->out[0].data, c->out[0].data};
    return finish(p, good && execute(p, data));
}

/* ----------------------------------------------------------------------------------------------------------------- */

static const sp_provider_kernel kernels[] = {
    {.op = "matmul", .name = "onednn", .takes = matmul_takes, .run = matmul_run},
    {.op = "conv2d", .name = "onednn", .takes = conv_takes, .run = conv_run},
};
static const sp_provider provider = {.struct_size = sizeof provider,
                                     .version = SP_PROVIDER_VERSION,
                                     .name = "oneDNN",
                                     .n_kernels = sizeof kernels / sizeof *kernels,
                                     .kernels = kernels};

static const sp_provider *refuse(const char *why)
{
    host->fail(SP_RUNTIME, why);
    return NULL;
}

sp_provider_open_fn sp_provider_open;
__attribute__((visibility("default"))) const sp_provider *sp_provider_open(const sp_provider_host *given)
{
    static char why[300];
    char file[64];
    host = given;
    snprintf(file, sizeof file, "libdnnl.so.%d", DNNL_VERSION_MAJOR);
    const char *chosen = getenv("SPORE_ONEDNN");
    void *library = dlopen(chosen && *chosen ? chosen : file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, sizeof why, "oneDNN cannot be opened: %s", dlerror());
        return refuse(why);
    }
#define X(name)                                                                                                        \
    {                                                                                                                  \
        void *symbol = dlsym(library, #name);                                                                          \
        if (!symbol) return refuse("oneDNN lacks the function " #name);                                                \
        memcpy(&p_##name, &symbol, sizeof symbol);                                                                     \
    }
    FUNCTIONS(X)
#undef X
    const dnnl_version_t *version = p_dnnl_version();
    if (version->major != DNNL_VERSION_MAJOR) {
        snprintf(why, sizeof why, "oneDNN %d.%d was found, wanted version %d", version->major, version->minor,
                 DNNL_VERSION_MAJOR);
        return refuse(why);
    }
    (void)p_dnnl_set_max_cpu_isa(
        dnnl_cpu_isa_avx512_core_bf16); /* fails when a program has set one itself: then that counts */
    if (p_dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
        p_dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
        return refuse("oneDNN has no engine for this CPU");
    return &provider;
}
