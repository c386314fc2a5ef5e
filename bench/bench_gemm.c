/* SPDX-License-Identifier: Apache-2.0 */
/* bench_gemm.c - the matrix product by itself: GFLOP/s of shapes that matter, with one thread and with two.
 *
 *     bench_gemm [dtype [m n k]...]     prints a line a shape and way the operands lie; SPORE_BENCH_THREADS=1: one thread only;
 *                                       SPORE_BENCH_COPIES=n: n sets of operands in turn, as a network has them: none is in a near cache */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/cpu/gemm.h"

/* One thread is timed by its own clock, which stands still while others have the processor. */
static double now(void)
{
    struct timespec t;
    clock_gettime(sp_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Operands of one product; the next set lies `step` bytes on. */
typedef struct {
    char *a, *b, *c;
    size_t a_step, b_step, c_step;
    int copies;
} operands;

static double measure(const sp__gemm_shape *s, const operands *o, void *work)
{
    size_t at = 0;
    double best = 1e9, end = now() + 0.25;
    int runs = 1;
    while (now() < end) {
        double start = now();
        for (int i = 0; i < runs; i++, at = (at + 1) % (size_t)o->copies)
            sp__gemm(s, o->a + at * o->a_step, o->b + at * o->b_step, o->c + at * o->c_step, false, work);
        double each = (now() - start) / runs;
        if (each < best) best = each;
        if (each * runs < 2e-4) runs *= 2;
    }
    return best;
}

static void report(sp_dtype dtype, int64_t m, int64_t n, int64_t k, int turned)
{
    sp__gemm_shape s = {
        .dtype = dtype, .m = m, .n = n, .k = k, .a_row = k, .a_col = 1, .b_row = n, .b_col = 1, .c_row = n};
    if (turned & 1) s.a_row = 1, s.a_col = m;
    if (turned & 2) s.b_row = 1, s.b_col = k;
    size_t bytes = sp_dtype_bytes(dtype);
    const char *copies = getenv("SPORE_BENCH_COPIES");
    operands o = {.copies = copies && atoi(copies) > 0 ? atoi(copies) : 1,
                  .a_step = (size_t)(m * k) * bytes,
                  .b_step = (size_t)(k * n) * bytes,
                  .c_step = (size_t)(m * n) * bytes};
    o.a = sp__alloc_zero(o.a_step * (size_t)o.copies), o.b = sp__alloc_zero(o.b_step * (size_t)o.copies);
    o.c = sp__alloc_zero(o.c_step * (size_t)o.copies);
    void *work = sp__alloc(sp__gemm_work(&s));
    if (!o.a || !o.b || !o.c || !work) return;
    memset(o.a, 0x3c, o.a_step * (size_t)o.copies); /* small numbers, not zeros */
    memset(o.b, 0x3c, o.b_step * (size_t)o.copies);
    double flops = 2.0 * (double)m * (double)n * (double)k, found[2];
    const char *threads = getenv("SPORE_BENCH_THREADS");
    for (int t = 1; t <= 2; t++) {
        sp_threads_set(t);
        found[t - 1] = t > 1 && threads && atoi(threads) == 1 ? found[0] : measure(&s, &o, work);
    }
    printf("%-8s %5d %5d %5d %s%s  %9.1f us %7.1f GFLOP/s   %9.1f us %7.1f GFLOP/s\n", sp_dtype_name(dtype), (int)m,
           (int)n, (int)k, turned & 1 ? "T" : "-", turned & 2 ? "T" : "-", found[0] * 1e6, flops / found[0] / 1e9,
           found[1] * 1e6, flops / found[1] / 1e9);
    sp__free(o.a), sp__free(o.b), sp__free(o.c), sp__free(work);
}

int main(int argc, char **argv)
{
    if (argc >= 5) {
        sp_dtype dtype = sp_dtype_parse(argv[1]);
        if (dtype == SP_DTYPE_NONE || !sp__gemm_takes(dtype))
            return fprintf(stderr, "no product of %s here\n", argv[1]), 1;
        for (int i = 2; i + 2 < argc; i += 3)
            for (int turned = 0; turned < 3; turned++)
                report(dtype, atoll(argv[i]), atoll(argv[i + 1]), atoll(argv[i + 2]), turned);
        return 0;
    }
    static const int64_t shapes[][3] = {{8, 8, 8},          {16, 16, 16},     {32, 32, 32},    {64, 64, 64},
                                        {128, 128, 128},    {256, 256, 256},  {512, 512, 512}, {1024, 1024, 1024},
                                        {2048, 2048, 2048}, {1, 4096, 4096},  {16, 3072, 768}, {128, 128, 64},
                                        {64, 512, 784},     {512, 1536, 384}, {32, 1024, 256}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int turned = 0; turned < 3; turned++)
            report(SP_DTYPE_F32, shapes[i][0], shapes[i][1], shapes[i][2], turned);
    static const sp_dtype others[] = {SP_DTYPE_F64, SP_DTYPE_BF16, SP_DTYPE_I8};
    for (int i = 0; i < 3; i++)
        for (int turned = 0; turned < 3 && sp__gemm_takes(others[i]); turned++)
            report(others[i], 1024, 1024, 1024, turned);
    return 0;
}
