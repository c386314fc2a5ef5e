/* SPDX-License-Identifier: Apache-2.0 */
/* test_tiles.c - products from tiles: the emulation of AMX, which has its arithmetic, and what this machine has, against sums in
 * double precision. Shapes around the sizes of tiles, panels, blocks and regions; both ways round; numbers of all magnitudes; what must
 * be declined; panels made ahead; threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/share.h"
#include "device/cpu/gemm.h"
#include "device/cpu/tiles.h"
#include "device/device.h"

static uint64_t seed = 1;
static uint32_t next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 32);
}
static float uniform(void) { return (float)((double)(int32_t)next() / 2147483648.0); }

static const sp__tiles_kernels *kernels_of(int which)
{
#if SP_HAVE_X86
    unsigned features = sp__cpu_features(), both = SP_CPU_VNNI | SP_CPU_BF16;
    if (which == 1 && (features & both) == both) return &sp__tiles_vnni;
    if (which == 2 && features & SP_CPU_AMX) return &sp__tiles_amx;
#endif
    return which == 0 ? &sp__tiles_emulated : NULL;
}

enum { A_TURNED = 1, B_TURNED = 2, SPACED = 4, TABLES = 8 };

typedef struct problem {
    sp_dtype dtype;
    int64_t m, n, k;
    int layout;
    void *a, *b;
    sp__tiles_product p;
    int64_t tables[4][1200];
} problem;

/* Numbers of a given kind: 0 uniform, 1 of widely different magnitude, 2 sums that cancel, 3 small integers. */
static float number(int kind)
{
    if (kind == 1) return ldexpf(uniform(), (int)(next() % 61) - 30);
    if (kind == 2) return (next() & 1 ? 1 : -1) * (1 + ldexpf(uniform(), -12));
    if (kind == 3) return (float)(int)(next() % 17) - 8;
    return uniform();
}

static void *operand(sp_dtype dtype, int64_t count, int kind)
{
    char *data = sp__alloc((size_t)count * sp_dtype_bytes(dtype) + 64);
    for (int64_t i = 0; i < count; i++) {
        float x = number(kind);
        uint32_t u;
        memcpy(&u, &x, 4);
        if (dtype == SP_DTYPE_F32) memcpy(data + i * 4, &x, 4);
        else if (dtype == SP_DTYPE_BF16) ((uint16_t *)(void *)data)[i] = (uint16_t)(u >> 16);
        else data[i] = (char)next();
    }
    return data;
}

static double value(sp_dtype dtype, const void *data, int64_t i)
{
    if (dtype == SP_DTYPE_F32) return ((const float *)data)[i];
    if (dtype == SP_DTYPE_I8) return ((const int8_t *)data)[i];
    uint32_t u = (uint32_t)((const uint16_t *)data)[i] << 16;
    float x;
    memcpy(&x, &u, 4);
    return x;
}

static void make(problem *t, sp_dtype dtype, int64_t m, int64_t n, int64_t k, int layout, int kind)
{
    int64_t gap = layout & SPACED ? 3 : 0, step = layout & SPACED ? 2 : 1;
    *t = (problem){.dtype = dtype, .m = m, .n = n, .k = k, .layout = layout};
    t->a = operand(dtype, (m + gap) * (k + gap) * step, kind);
    t->b = operand(dtype, (n + gap) * (k + gap) * step, kind);
    t->p = (sp__tiles_product){.a = {.dtype = dtype, .data = t->a, .n = m, .n_k = k},
                               .b = {.dtype = dtype, .data = t->b, .n = n, .n_k = k}};
    bool at = layout & A_TURNED, bt = layout & B_TURNED;
    t->p.a.outer = at ? step : (k + gap) * step;
    t->p.a.k = at ? (m + gap) * step : step;
    t->p.b.outer = bt ? (k + gap) * step : step;
    t->p.b.k = bt ? step : (n + gap) * step;
    if (layout & TABLES) {
        for (int64_t i = 0; i < m; i++) t->tables[0][i] = i * t->p.a.outer;
        for (int64_t i = 0; i < k; i++) t->tables[1][i] = i * t->p.a.k;
        for (int64_t i = 0; i < n; i++) t->tables[2][i] = i * t->p.b.outer;
        for (int64_t i = 0; i < k; i++) t->tables[3][i] = i * t->p.b.k;
        t->p.a.outer_table = t->tables[0], t->p.a.k_table = t->tables[1];
        t->p.b.outer_table = t->tables[2], t->p.b.k_table = t->tables[3];
    }
    t->p.c_row = n;
    t->p.c_dtype = dtype;
}

static void done(problem *t) { sp__free(t->a), sp__free(t->b); }

/* Sum and sum of magnitudes of one element of C. */
static double exact(const problem *t, int64_t i, int64_t j, double *magnitudes)
{
    double sum = 0, all = 0;
    for (int64_t p = 0; p < t->k; p++) {
        double x = value(t->dtype, t->a, i * t->p.a.outer + p * t->p.a.k) *
                   value(t->dtype, t->b, j * t->p.b.outer + p * t->p.b.k);
        sum += x;
        all += fabs(x);
    }
    *magnitudes = all;
    return sum;
}

/* u = 2^-24. Products left out: 2 u (1 + 2^-8). Each tile operation adds 16 products in turn, two such sums, then C: 18 roundings; the
 * sum of a block of 128 elements is rounded once per operation, six times a step of 32, and the whole once per block. The six products of
 * terms together have the magnitude of the whole times (1 + 2^-7)^2. An FMA chain has k u. */
static double bound_f32(int64_t k) { return (2.1 + 18 + 24 + (double)((k + 127) / 128)) * 1.02 * 0x1p-24; }

static void check(const sp__tiles_kernels *kernels, sp_dtype dtype, int64_t m, int64_t n, int64_t k, int layout,
                  int kind)
{
    problem *t = sp__alloc(sizeof *t);
    make(t, dtype, m, n, k, layout, kind);
    size_t bytes = (size_t)(m * n) * sp_dtype_bytes(dtype);
    char *c = sp__alloc(bytes + 64), *again = sp__alloc(bytes + 64), *work;
    size_t work_bytes = sp__tiles_work(dtype, m, n, k, false);
    work = sp__alloc(work_bytes + 64);
    memset(work, 0x5A, work_bytes + 64);
    memset(c, 0x77, bytes + 64);
    memset(again, 0x77, bytes + 64);
    t->p.c = c;
    assert_int_equal(sp_threads_set(1), SP_OK);
    assert_int_equal(sp__tiles_multiply(kernels, &t->p, work), SP_OK);
    for (int i = 0; i < 64; i++) assert_int_equal((unsigned char)work[work_bytes + (size_t)i], 0x5A);
    for (int i = 0; i < 64; i++) assert_int_equal((unsigned char)c[bytes + (size_t)i], 0x77);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double all, want = exact(t, i, j, &all), found = value(dtype, c, i * n + j), allowed = 0;
            if (dtype == SP_DTYPE_I8) want = (double)(int8_t)(int64_t)want;
            else if (dtype == SP_DTYPE_F32) allowed = bound_f32(k) * all;
            else
                allowed = ((double)k + 2) * 0x1p-23 * all +
                          fabs(want) * 0x1p-8; /* k roundings at most, then one to bfloat16 */
            if (!(fabs(found - want) <= allowed))
                fail_msg("%s %s m=%d n=%d k=%d layout=%d kind=%d: c[%d][%d] = %.9g, wanted %.9g, off by %g of %g",
                         kernels->name, sp_dtype_name(dtype), (int)m, (int)n, (int)k, layout, kind, (int)i, (int)j,
                         found, want, fabs(found - want), allowed);
        }
    }
    /* The same bits with three threads, and with panels of B made ahead. */
    assert_int_equal(sp_threads_set(3), SP_OK);
    t->p.c = again;
    assert_int_equal(sp__tiles_multiply(kernels, &t->p, work), SP_OK);
    assert_memory_equal(c, again, bytes);
    char *packed = sp__alloc(sp__tiles_packed_bytes(dtype, n, k));
    assert_int_equal(sp__tiles_pack(kernels, &t->p.b, packed), SP_OK);
    t->p.packed_b = packed;
    memset(again, 0, bytes);
    assert_int_equal(sp__tiles_multiply(kernels, &t->p, work), SP_OK);
    assert_memory_equal(c, again, bytes);
    sp__free(c), sp__free(again), sp__free(work), sp__free(packed);
    done(t);
    sp__free(t);
}

static const int64_t sizes[][3] = {{1, 1, 1},      {1, 40, 33},    {16, 16, 32},  {17, 15, 31},  {32, 32, 64},
                                   {33, 31, 65},   {5, 70, 130},   {64, 33, 129}, {30, 48, 257}, {129, 20, 40},
                                   {140, 135, 96}, {20, 300, 300}, {75, 40, 192}, {40, 35, 1152}};

static void agrees_with_doubles(void **state)
{
    (void)state;
    static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_BF16, SP_DTYPE_I8};
    for (int which = 0; which < 3; which++) {
        const sp__tiles_kernels *kernels = kernels_of(which);
        if (!kernels) continue;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int layout = 0; layout < 16; layout++)
                for (int d = 0; d < 3; d++) {
                    bool offered = d == 0 ? kernels->f32 : d == 1 ? kernels->bf16 : kernels->i8;
                    if (offered && (which || (layout + (int)i + d) % 3 == 0) && share_takes((int64_t)i * 16 + layout))
                        check(kernels, dtypes[d], sizes[i][0], sizes[i][1], sizes[i][2], layout, (layout + (int)i) % 4);
                }
    }
}

/* The root of the mean square of errors in units of the sum of magnitudes, of tiles and of a chain of float FMA. The largest of them is a matter of
 * luck where few summands count; its bound is checked in check(). */
static void errors_of(const problem *t, const float *c, double *tiles, double *chain)
{
    *tiles = *chain = 0;
    for (int64_t i = 0; i < t->m; i++)
        for (int64_t j = 0; j < t->n; j++) {
            double all, want = exact(t, i, j, &all);
            float sum = 0;
            for (int64_t p = 0; p < t->k; p++)
                sum = fmaf(((float *)t->a)[i * t->p.a.outer + p * t->p.a.k],
                           ((float *)t->b)[j * t->p.b.outer + p * t->p.b.k], sum);
            if (all == 0) continue;
            double one = (c[i * t->n + j] - want) / all, other = (sum - want) / all;
            *tiles += one * one;
            *chain += other * other;
        }
    *tiles = sqrt(*tiles / (double)(t->m * t->n));
    *chain = sqrt(*chain / (double)(t->m * t->n));
}

/* float32 from three terms is no worse than a chain of FMA, whatever the numbers. */
static void is_no_worse_than_a_chain(void **state)
{
    (void)state;
    static const int64_t ks[] = {64, 100, 256, 600, 2500};
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            if (share() > 1 && (int)i != kind) continue;
            problem *t = sp__alloc(sizeof *t);
            seed = (uint64_t)kind * 100 + i; /* the same numbers on every machine, whatever ran before */
            make(t, SP_DTYPE_F32, 48, 48, ks[i], 0, kind);
            float *c = sp__alloc((size_t)(t->m * t->n) * 4);
            void *work = sp__alloc(sp__tiles_work(SP_DTYPE_F32, t->m, t->n, t->k, false));
            t->p.c = c;
            assert_int_equal(sp__tiles_multiply(kernels_of(2) ? kernels_of(2) : &sp__tiles_emulated, &t->p, work),
                             SP_OK);
            double tiles, chain;
            errors_of(t, c, &tiles, &chain);
            if (tiles > chain) fail_msg("k=%d kind=%d: error %.3g, of a chain %.3g", (int)ks[i], kind, tiles, chain);
            sp__free(c), sp__free(work);
            done(t);
            sp__free(t);
        }
}

/* Packing by the CPU's own conversions and in plain C give the same bytes and the same range. */
static void packs_alike(void **state)
{
    (void)state;
    for (int which = 1; which < 3; which++)
        for (int layout = 0; layout < 16; layout++) {
            const sp__tiles_kernels *kernels = kernels_of(which);
            if (!kernels) continue;
            problem *t = sp__alloc(sizeof *t);
            make(t, SP_DTYPE_F32, 45, 40, 135, layout, layout % 4);
            size_t bytes = (size_t)sp__tiles_panel_bytes(SP_DTYPE_F32, 135);
            char *one = sp__alloc(bytes), *two = sp__alloc(bytes);
            for (int64_t first = 0; first < 45; first += SP_TILES_PANEL)
                for (int turned = 0; turned < 2; turned++) {
                    sp__tiles_range a, b;
                    sp__tiles_range_start(&a);
                    sp__tiles_range_start(&b);
                    kernels->pack(&t->p.a, first, 1, turned, one, &a);
                    sp__tiles_emulated.pack(&t->p.a, first, 1, turned, two, &b);
                    assert_memory_equal(one, two, bytes);
                    assert_int_equal(atomic_load(&a.largest), atomic_load(&b.largest));
                    assert_int_equal(atomic_load(&a.smallest), atomic_load(&b.smallest));
                }
            sp__free(one), sp__free(two);
            done(t);
            sp__free(t);
        }
}

/* Numbers that three terms cannot hold, wherever they are: declined, C as it was. */
static void declines_what_it_cannot_hold(void **state)
{
    (void)state;
    const float bad[] = {INFINITY, -INFINITY, NAN, FLT_MAX, 1e-40f, FLT_MIN, 0x1p-110f};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int where = 0; where < 4; where++) {
            problem *t = sp__alloc(sizeof *t);
            make(t, SP_DTYPE_F32, 40, 50, 70, where, 0);
            float *victim = where & 1 ? t->a : t->b;
            victim[where & 2 ? 40 * 70 - 1 : 13] = bad[i];
            float c[40 * 50];
            memset(c, 0x11, sizeof c);
            t->p.c = c;
            void *work = sp__alloc(sp__tiles_work(SP_DTYPE_F32, 40, 50, 70, false));
            char *packed = sp__alloc(sp__tiles_packed_bytes(SP_DTYPE_F32, 50, 70));
            assert_int_equal(sp__tiles_multiply(&sp__tiles_emulated, &t->p, work), SP_DECLINED);
            assert_int_equal(sp__tiles_pack(&sp__tiles_emulated, &t->p.b, packed), SP_OK);
            t->p.packed_b = packed;
            assert_int_equal(sp__tiles_multiply(&sp__tiles_emulated, &t->p, work), SP_DECLINED);
            for (size_t l = 0; l < sizeof c; l++) assert_int_equal(((unsigned char *)c)[l], 0x11);
            sp__free(work), sp__free(packed);
            done(t);
            sp__free(t);
        }
}

static void adds_to_what_is_there(void **state)
{
    (void)state;
    problem *t = sp__alloc(sizeof *t);
    make(t, SP_DTYPE_F32, 20, 40, 33, 0, 3);
    float c[20 * 40];
    for (int i = 0; i < 20 * 40; i++) c[i] = (float)i;
    t->p.c = c;
    t->p.accumulate = true;
    void *work = sp__alloc(sp__tiles_work(SP_DTYPE_F32, 20, 40, 33, false));
    assert_int_equal(sp__tiles_multiply(&sp__tiles_emulated, &t->p, work), SP_OK);
    for (int i = 0; i < 20 * 40; i++) {
        double all;
        assert_true(c[i] == (float)(exact(t, i / 40, i % 40, &all) + i)); /* small integers: exact */
    }
    sp__free(work);
    done(t);
    sp__free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_doubles),   cmocka_unit_test(is_no_worse_than_a_chain),
        cmocka_unit_test(packs_alike),           cmocka_unit_test(declines_what_it_cannot_hold),
        cmocka_unit_test(adds_to_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
